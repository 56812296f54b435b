/** Folders for a moment. What a killed process left is removed by the next one that makes such a folder. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readForeignFolder } from "./foreignFile.ts"
import { isAlive } from "./identity.ts"

const swept = new Set<string>()

/** In a larger folder they stay. */
const mostEntries = 100_000

const sweep = async (prefix: string): Promise<void> => {
  const entries = (await readForeignFolder(tmpdir(), { mostEntries }).catch(() => undefined)) ?? []
  for (const { name } of entries) {
    const [pid = "", random] = name.startsWith(prefix) ? name.slice(prefix.length).split("-") : []
    if (random === undefined || !/^\d+$/.test(pid) || isAlive(Number(pid))) continue
    // One of another user's stays.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Whoever makes one removes it. `name`: what it is for, a word. */
export const makeTemporaryFolder = async (name: string): Promise<string> => {
  const prefix = `reprise-${name}-`
  if (!swept.has(prefix)) {
    swept.add(prefix)
    await sweep(prefix)
  }
  return mkdtemp(join(tmpdir(), `${prefix}${process.pid}-`))
}
