/** Folders for a moment. What a killed process left is removed by the next one that makes such a folder. */
import { lstat, mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readForeignFolder } from "./foreignFile.ts"
import { isAlive } from "./identity.ts"
import { removeForeign } from "./removeForeign.ts"

const swept = new Set<string>()

/** In a larger folder they stay. */
const mostEntries = 100_000

/**
 * Whether `mkdtemp` of this user made it. In a folder of another user's, names can be exchanged while it is emptied, and what
 * they lead to then would go.
 */
const isOwn = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o777) === 0o700,
    () => false
  )

const sweep = async (prefix: string): Promise<void> => {
  const entries = (await readForeignFolder(tmpdir(), { mostEntries }).catch(() => undefined)) ?? []
  for (const { name } of entries) {
    const [pid = "", random] = name.startsWith(prefix) ? name.slice(prefix.length).split("-") : []
    if (random === undefined || !/^\d+$/.test(pid) || isAlive(Number(pid))) continue
    const path = join(tmpdir(), name)
    if (await isOwn(path)) await removeForeign(path).catch(() => undefined)
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
