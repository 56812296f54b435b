/**
 * What a repository tells its agents, for a Claude that does not read the repository's settings: with them it leaves out
 * these texts, too.
 */
import { readlink } from "node:fs/promises"
import { join, normalize } from "node:path"
import { readForeignFile } from "@reprise/process"
import { Effect } from "effect"
import type { Instructions } from "../../earlierInstructions.ts"

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

/** For the end of a system prompt; undefined if there are none. */
const asPrompt = (texts: Iterable<string>): string | undefined => {
  const told = [...new Set([...texts].map((text) => text.trim()))]
  return told.length === 0 ? undefined : ["The repository's instructions for agents:", ...told].join("\n\n")
}

/** The instructions in a directory, for the end of a system prompt; undefined if there are none. */
export const instructionsIn = (directory: string): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    const found = await Promise.all(names.map((name) => read(directory, name)))
    return asPrompt(found.flatMap((one) => (one === undefined ? [] : [one.text])))
  })

/** The same of instructions that were there earlier. */
export const earlierInstructions = (earlier: Instructions): string | undefined =>
  asPrompt(names.flatMap((name) => earlier.get(name)?.slice(0, largestBytes) ?? []))
