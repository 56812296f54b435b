/**
 * What a repository tells its agents, for a Claude that does not read the repository's settings: with them it leaves out
 * these texts, too.
 */
import { type FileHandle, lstat, realpath } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { readForeignFile } from "@reprise/process"
import { Effect } from "effect"

const names = ["CLAUDE.md", "AGENTS.md"]
const largestBytes = 64 * 1024

/** Something may have been put in its place since its name was looked at. */
const requireSame = async (file: FileHandle, path: string) => {
  const [opened, named] = await Promise.all([file.stat(), lstat(path)])
  if (opened.ino !== named.ino || opened.dev !== named.dev || (await realpath(path)) !== path) {
    throw new Error(`${path} became another file`)
  }
}

/** The text of a file that is really in the directory; undefined if there is none, or it cannot be used. */
const read = async (directory: string, name: string) => {
  try {
    const path = await realpath(join(directory, name))
    const inner = relative(await realpath(directory), path)
    if (inner === "" || inner.split(sep)[0] === ".." || inner.split(sep)[0] === ".git") return undefined
    const bytes = await readForeignFile(path, { largestBytes, follow: true, check: (file) => requireSame(file, path) })
    return bytes === undefined ? undefined : { path, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return undefined
  }
}

/** The instructions in a directory, for the end of a system prompt; undefined if there are none. */
export const instructionsIn = (directory: string): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    const found = (await Promise.all(names.map((name) => read(directory, name)))).filter((one) => one !== undefined)
    // One of them is often a link to the other.
    const texts = new Map(found.map(({ path, text }) => [path, text.trim()]))
    if (texts.size === 0) return undefined
    return ["The repository's instructions for agents:", ...texts.values()].join("\n\n")
  })
