/**
 * Whose a file that bears commands is. What git tracks others wrote, and so it stays once it was seen to be theirs: a command can
 * take a file out of git's index, and its content out of git's store, but not out of this record, which no command can write.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { readForeignFile } from "@reprise/process"
import { Effect, Schema } from "effect"
import { cloneFile } from "../project/cloneFile.ts"
import { identifyClone } from "../project/cloneId.ts"
import type { Project } from "../project/Project.ts"
import { blobNames, knownBlobs, trackedFiles } from "../project/trackedFiles.ts"

/** `path`: of a file, or of a folder with all that is in it, relative to a working tree of the clone. */
const ForeignFile = Schema.Struct({ path: Schema.String, since: Schema.String })

const file = cloneFile({
  folder: "foreign",
  entry: ForeignFile,
  nothing: "Every file counts as foreign",
  // Asking once too often harms nobody.
  inherited: true
})

/** Some file systems find `.Claude` under `.claude`. */
const keyOf = (path: string): string => path.toLowerCase()

export interface ForeignPaths {
  readonly paths: ReadonlyArray<string>
  /** Whether it was seen to be others', or nobody knows. */
  readonly has: (path: string) => boolean
}

/** The clone has an id from the first look on: once commands run, they cannot change it. */
const readForeign = Effect.fnUntraced(function* (project: Project) {
  const clone = yield* identifyClone(project)
  return { clone, ...(yield* file.read(clone)) }
})

/** Those that were seen in any working tree of the clone. Fails where the clone cannot be given an id. */
export const foreignPaths = Effect.fn("foreignPaths")(function* (project: Project) {
  const { entries, trouble } = yield* readForeign(project)
  const known = new Set(entries.map(({ path }) => keyOf(path)))
  const has = (path: string): boolean => {
    const key = keyOf(path)
    if (known.has(key)) return true
    const above = dirname(key)
    return above !== "." && has(above)
  }
  return {
    paths: entries.map(({ path }) => path),
    has: (path) => trouble !== undefined || has(path)
  } satisfies ForeignPaths
})

/** Remembers that these paths are others'. Fails where that cannot be written. */
export const noteForeign = Effect.fn("noteForeign")(function* (project: Project, paths: ReadonlyArray<string>) {
  const { clone, entries, trouble } = yield* readForeign(project)
  if (trouble !== undefined) return
  const known = new Set(entries.map(({ path }) => keyOf(path)))
  const unknown = [...new Set(paths)].filter((path) => !known.has(keyOf(path)))
  if (unknown.length === 0) return
  const since = new Date().toISOString()
  yield* file.write(clone, [...entries, ...unknown.map((path) => ({ path, since }))])
})

/**
 * Whether a working tree lies in one in which agents have worked: then an agent may have made it, with all that is in it. A
 * run's own worktree was made by Reprise, but not what lies in it.
 */
export const isInAgentsTree = (directory: string, from = dirname(directory)): boolean => {
  const isRunsOwn = dirname(directory) === join(from, ".reprise", "worktrees")
  if (!isRunsOwn && existsSync(join(from, ".reprise", "sandbox"))) return true
  return dirname(from) !== from && isInAgentsTree(directory, dirname(from))
}

/** A file of settings is smaller. */
const largestBytes = 1024 * 1024

/**
 * Whether a file at the top of a project may come from others: git tracks it, has tracked it, or cannot tell. One that cannot
 * be read is left to whoever reads it.
 */
export const isOfOthers = Effect.fn("isOfOthers")(function* (project: Project, path: string) {
  if (isInAgentsTree(project.root) || (yield* foreignPaths(project)).has(path)) return true
  const tracked = yield* trackedFiles(project.root, [path])
  if (tracked === undefined) return true
  if (tracked.length > 0) {
    yield* noteForeign(project, [path])
    return true
  }
  const bytes = yield* Effect.promise(() =>
    readForeignFile(join(project.root, path), { largestBytes, follow: true }).catch(() => undefined)
  )
  return bytes !== undefined && (yield* knownBlobs(project.root, blobNames(bytes))).size > 0
})
