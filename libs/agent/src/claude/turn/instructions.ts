/**
 * What a repository tells its agents, for a Claude that does not read the repository's settings: with them it leaves out
 * these texts, too.
 */
import { readlink } from "node:fs/promises"
import { join, normalize } from "node:path"
import { readForeignFile } from "@reprise/process"
import { Effect } from "effect"

const names = ["CLAUDE.md", "AGENTS.md"]
const largestBytes = 64 * 1024

/** One of them is often a link to the other; no other link is followed, since a command may have made it. */
const nameBehind = async (directory: string, name: string): Promise<string> => {
  const target = normalize(await readlink(join(directory, name)).catch(() => name))
  return names.includes(target) ? target : name
}

/** The text of a file that is really in the directory; undefined if there is none, or it cannot be used. */
const read = async (directory: string, name: string) => {
  try {
    const path = join(directory, await nameBehind(directory, name))
    const bytes = await readForeignFile(path, { largestBytes, below: directory })
    return bytes === undefined ? undefined : { path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return undefined
  }
}

/** The instructions in a directory, for the end of a system prompt; undefined if there are none. */
export const instructionsIn = (directory: string): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    const found = (await Promise.all(names.map((name) => read(directory, name)))).filter((one) => one !== undefined)
    const texts = new Map(found.map(({ path, text }) => [path, text.trim()]))
    if (texts.size === 0) return undefined
    return ["The repository's instructions for agents:", ...texts.values()].join("\n\n")
  })
