/**
 * The settings that a repository brings for agents' runtimes. What git tracks of them was written by others, and so was what
 * it has tracked and does not any more: it counts only after this machine trusted exactly this content. Files that git has never
 * known are the user's own, where commands cannot write them.
 */
import { createHash } from "node:crypto"
import { existsSync, lstatSync } from "node:fs"
import { readlink } from "node:fs/promises"
import { join } from "node:path"
import { ForeignFileRefused, readForeignFile } from "@reprise/process"
import type { RuntimeName } from "@reprise/protocol"
import { commandFiles, commandFilesOf, nestedCommandFilesOf } from "@reprise/sandbox"
import { Effect } from "effect"
import type { Project } from "../project/Project.ts"
import { blobNames, knownBlobs, trackedFiles } from "../project/trackedFiles.ts"
import { visibleLine } from "../terminal/visible.ts"
import { filesAt } from "./filesOnDisk.ts"
import { foreignPaths, isInAgentsTree, noteForeign } from "./foreignFiles.ts"

/** npm installs packages for OpenCode where there is a folder of it. A command does not tell which agent it starts, and how. */
const placesFor = (runtime: RuntimeName, directory: string): ReadonlyArray<string> => {
  if (runtime === "claude") return commandFilesOf("claude")
  if (runtime !== "opencode") return commandFilesOf("opencode", "claude", "npm", "agents")
  return existsSync(join(directory, ".opencode")) ? commandFilesOf("opencode", "npm") : commandFilesOf("opencode")
}

/** Whether a runtime looks for a file in folders below the top. Commands cannot make one there (docs/design/workspace.md#sandbox). */
const isNestedFor = (runtime: RuntimeName): ((path: string) => boolean) => {
  const names = nestedCommandFilesOf(runtime === "opencode" ? runtime : "claude")
  return (path) => names.some((name) => path.toLowerCase().includes(`/${name}/`))
}

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
/** Of all that are shown to be trusted; a runtime reads them all at once. */
const largestTotalBytes = 64 * 1024 * 1024

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

/** `names`: by which git may know its content. The content itself is not kept: there may be thousands. */
interface ReadFile {
  readonly file: AgentFile
  readonly names: ReadonlyArray<string>
}

/** Names are read as UTF-8; this stands for bytes that are none. */
const isUnnamed = (path: string): boolean => path.includes("\ufffd")

/** Undefined for a file that is tracked, and not there. */
const readFile = (directory: string, path: string) =>
  Effect.promise(async (): Promise<ReadFile | undefined> => {
    if (isUnnamed(path)) return { file: doubtful(path, "its name is not text"), names: [] }
    const place = join(directory, path)
    try {
      const bytes = await readForeignFile(place, { largestBytes, follow: false })
      if (bytes === undefined) return undefined
      return {
        file: { path, sizeBytes: bytes.length, digest: digestOf(path, bytes), doubt: undefined },
        names: [bytes, withoutSchema(path, bytes)].flatMap(blobNames)
      }
    } catch (error) {
      const file = doubtful(path, error instanceof ForeignFileRefused ? `it ${error.what}` : String(error))
      // git knows a link by where it leads.
      const target = await readlink(place, "buffer").catch(() => undefined)
      return { file, names: target === undefined ? [] : blobNames(target) }
    }
  })

/** Those of some files that git does not track whose content it knows all the same, or may know. */
const filesOnceTracked = Effect.fnUntraced(function* (directory: string, read: ReadonlyArray<ReadFile>) {
  const known = yield* knownBlobs(
    directory,
    read.flatMap(({ names }) => names)
  )
  return read.filter(({ file, names }) => isUnnamed(file.path) || names.some((name) => known.has(name)))
})

/** As patterns of git, of which `*` stands for folders, too. */
const allPatterns = [...commandFiles, ...nestedCommandFilesOf("claude").map((name) => `*/${name}/*`)]

const isAtOrIn = (path: string, place: string): boolean =>
  path.toLowerCase() === place || path.toLowerCase().startsWith(`${place}/`)

const isFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const readAll = (directory: string, paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, (path) => readFile(directory, path)).pipe(
    Effect.map((read) => read.flatMap((one) => one ?? []))
  )

/** Foreign files count together. */
const doubtLarge = (files: ReadonlyArray<AgentFile>): ReadonlyArray<AgentFile> => {
  const total = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const doubt = `together with similar files it has ${total} bytes, more than the ${largestTotalBytes} that can be trusted`
  return total > largestTotalBytes ? files.map(({ path }) => doubtful(path, doubt)) : files
}

/** The files of a runtime in a working tree of the project's clone that others may have written, by path. */
export const agentFiles = Effect.fn("agentFiles")(function* (
  project: Project,
  runtime: RuntimeName,
  directory = project.root
) {
  const places = placesFor(runtime, directory)
  const isNested = isNestedFor(runtime)
  const isOfRuntime = (path: string) => places.some((place) => isAtOrIn(path, place)) || isNested(path)
  const present = yield* Effect.promise(() => filesAt(directory, places))
  // Whatever runs now, a command could take the files of another runtime out of the index.
  const tracked = yield* trackedFiles(directory, allPatterns)
  if (tracked === undefined) return present.map((path) => doubtful(path, "git cannot tell whether it tracks it"))
  yield* noteForeign(project, tracked)
  const foreign = yield* foreignPaths(project)
  const noted = foreign.paths.filter((path) => !isFolder(join(directory, path)))
  const theirs = [...new Set([...tracked, ...noted, ...present.filter(foreign.has)])].filter(isOfRuntime)
  const others = yield* readAll(
    directory,
    present.filter((path) => !theirs.includes(path))
  )
  const more = isInAgentsTree(directory) ? others : yield* filesOnceTracked(directory, others)
  return doubtLarge([...(yield* readAll(directory, theirs)), ...more].map(({ file }) => file))
})

/** A line for people. */
export const agentFileLine = ({ digest, doubt, path, sizeBytes }: AgentFile): string =>
  doubt === undefined
    ? `${visibleLine(path)}, settings of agents:\n  ${sizeBytes} bytes, sha256 ${digest.slice(0, 16)}`
    : `${visibleLine(path)}, settings of agents: cannot be trusted, ${visibleLine(doubt)}`
