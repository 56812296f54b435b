/**
 * Instructions for agents that are in no commit, such as an ignored `CLAUDE.md` of the user: what they said before a run. Later nobody
 * could tell them from those that an author planted. The record is in Reprise's state, where no command of any run can write.
 */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { Effect, Result, Schema } from "effect"
import { committedTexts } from "./committedTexts.ts"
import { replaceFile } from "./files.ts"
import { readForeignFile, readForeignText } from "./foreignFile.ts"
import { insist, onDisk } from "./ownIndex.ts"
import type { GitOptions } from "./runGit.ts"

/** As OpenCode and Claude call them. */
export const instructionNames: ReadonlyArray<string> = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"]

/** What Reprise stores about a working tree is in this folder of its state, or in files whose names begin so. */
export const treeFolder = (stateDirectory: string, directory: string): string =>
  join(stateDirectory, "trees", createHash("sha256").update(directory).digest("hex").slice(0, 16))

const recordOf = (stateDirectory: string, directory: string) =>
  `${treeFolder(stateDirectory, directory)}-instructions.json`

/** A text may be this large. */
const largestBytes = 64 * 1024

const Texts = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const decode = Schema.decodeUnknownResult(Texts)

/** A link, or what is not text, is none. */
const textAt = async (directory: string, name: string): Promise<ReadonlyArray<readonly [string, string]>> => {
  try {
    const bytes = await readForeignFile(join(directory, name), { largestBytes, below: directory, follow: false })
    return bytes === undefined ? [] : [[name, new TextDecoder("utf-8", { fatal: true }).decode(bytes)]]
  } catch {
    return []
  }
}

/** Records those at the top of a working tree. To be called before anybody works in it. */
export const recordUntrackedInstructions = Effect.fn("recordUntrackedInstructions")(function* (
  stateDirectory: string,
  directory: string,
  options: GitOptions = {}
) {
  const isAtTop = (path: string) => instructionNames.includes(path)
  const head = (yield* insist(directory, ["rev-parse", "HEAD"], options)).trim()
  const committed = yield* committedTexts(directory, head, isAtTop, options)
  yield* onDisk(async () => {
    const names = instructionNames.filter((name) => !committed.has(name))
    const texts = (await Promise.all(names.map((name) => textAt(directory, name)))).flat()
    await replaceFile(recordOf(stateDirectory, directory), JSON.stringify(Object.fromEntries(texts)))
  })
})

/** By their names; none where nothing was recorded, or the record cannot be read. */
export const untrackedInstructions = (
  stateDirectory: string,
  directory: string
): Effect.Effect<ReadonlyMap<string, string>> =>
  Effect.promise(async () => {
    const read = readForeignText(recordOf(stateDirectory, directory), { largestBytes: 1024 * 1024, follow: false })
    const texts = Result.getOrElse(decode(await read.catch(() => undefined)), () => ({}))
    return new Map(Object.entries(texts))
  })
