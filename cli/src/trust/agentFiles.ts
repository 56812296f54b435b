/**
 * The settings that a repository brings for agents' runtimes. What git tracks of them was written by others, and so was what
 * it has tracked and does not any more: it counts only after this machine trusted exactly this content. Files that git does
 * not know are the user's own.
 */
import { createHash } from "node:crypto"
import { lstatSync } from "node:fs"
import { readlink } from "node:fs/promises"
import { join } from "node:path"
import { ForeignFileRefused, readForeignFile } from "@reprise/process"
import type { RuntimeName } from "@reprise/protocol"
import { commandFilesOf, nestedCommandFilesOf } from "@reprise/sandbox"
import { Effect } from "effect"
import { isInAgentsTree, knownContents, trackedFiles, untrackedFiles } from "../project/trackedFiles.ts"
import { visibleLine } from "../terminal/visible.ts"

/** A command does not tell which agent it starts. */
const placesFor = (runtime: RuntimeName): ReadonlyArray<string> =>
  runtime === "opencode" || runtime === "claude"
    ? commandFilesOf(runtime)
    : commandFilesOf("opencode", "claude", "agents")

/** As patterns of git, of which `*` stands for folders, too. */
const nestedFor = (runtime: RuntimeName): ReadonlyArray<string> =>
  nestedCommandFilesOf(runtime === "opencode" ? runtime : "claude").map((name) => `*/${name}/*`)

export interface AgentFile {
  /** Relative to the working tree. */
  readonly path: string
  readonly sizeBytes: number
  /** Identifies the path and the content. */
  readonly digest: string
  /** Why nobody can trust it; undefined: somebody can. */
  readonly doubt: string | undefined
}

const largestBytes = 1024 * 1024

/** OpenCode adds the address of its schema to a file without one: that changes nothing. */
const withoutSchema = (path: string, bytes: Buffer): Buffer =>
  /(^|\/)opencode\.jsonc?$/i.test(path)
    ? Buffer.from(
        bytes.toString("latin1").replace(/^\s*\{(\n {2}"\$schema": "https:\/\/opencode\.ai\/config\.json",)?/, "{"),
        "latin1"
      )
    : bytes

const digestOf = (path: string, bytes: Buffer): string =>
  createHash("sha256")
    .update(JSON.stringify(["file", path]))
    .update(withoutSchema(path, bytes))
    .digest("hex")

const doubtful = (path: string, doubt: string): AgentFile => ({ path, sizeBytes: 0, digest: "", doubt })

/** `contents`: by which git may know it. */
interface ReadFile {
  readonly file: AgentFile
  readonly contents: ReadonlyArray<Buffer>
}

/** Undefined for a file that is tracked, and not there. */
const readFile = (directory: string, path: string) =>
  Effect.promise(async (): Promise<ReadFile | undefined> => {
    const place = join(directory, path)
    try {
      const bytes = await readForeignFile(place, { largestBytes, follow: false })
      if (bytes === undefined) return undefined
      return {
        file: { path, sizeBytes: bytes.length, digest: digestOf(path, bytes), doubt: undefined },
        contents: [bytes, withoutSchema(path, bytes)]
      }
    } catch (error) {
      const file = doubtful(path, error instanceof ForeignFileRefused ? `it ${error.what}` : String(error))
      // git knows a link by where it leads.
      const target = await readlink(place, "buffer").catch(() => undefined)
      return { file, contents: target === undefined ? [] : [target] }
    }
  })

/** OpenCode installs there what its plugins need. */
const isInstalled = (path: string) => path.split("/").includes("node_modules")

/** Those of some files that git does not track whose content it knows all the same. */
const filesOnceTracked = Effect.fnUntraced(function* (directory: string, paths: ReadonlyArray<string>) {
  const read = yield* Effect.forEach(
    paths.filter((path) => !isInstalled(path)),
    (path) => readFile(directory, path)
  )
  const found = read.flatMap((one) => one ?? [])
  const known = yield* knownContents(
    directory,
    found.flatMap(({ contents }) => contents)
  )
  return found.filter(({ contents }) => contents.some((bytes) => known.has(bytes)))
})

/** The files of a runtime in a working tree that others may have written, by path. */
export const agentFiles = Effect.fn("agentFiles")(function* (directory: string, runtime: RuntimeName) {
  const places = placesFor(runtime)
  const present = places.filter((place) => lstatSync(join(directory, place), { throwIfNoEntry: false }))
  const nested = nestedFor(runtime)
  if (present.length === 0 && nested.length === 0) return []
  const tracked = yield* trackedFiles(directory, [...places, ...nested])
  // Deeper ones would need a look at every folder.
  const untracked = present.length === 0 ? [] : yield* untrackedFiles(directory, present)
  if (tracked === undefined || untracked === undefined) {
    return present.map((place) => doubtful(place, "git cannot tell whether it tracks it"))
  }
  const found = yield* Effect.forEach(tracked, (path) => readFile(directory, path))
  const ofOthers = isInAgentsTree(directory)
    ? yield* Effect.forEach(untracked, (path) => readFile(directory, path))
    : yield* filesOnceTracked(directory, untracked)
  return [...found, ...ofOthers].flatMap((one) => (one === undefined ? [] : [one.file]))
})

/** A line for people. */
export const agentFileLine = ({ digest, doubt, path, sizeBytes }: AgentFile): string =>
  doubt === undefined
    ? `${visibleLine(path)}, settings of agents:\n  ${sizeBytes} bytes, sha256 ${digest.slice(0, 16)}`
    : `${visibleLine(path)}, settings of agents: cannot be trusted, ${visibleLine(doubt)}`
