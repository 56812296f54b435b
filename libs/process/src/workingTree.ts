/** What `git status` says of a working tree, without what Reprise and the agents' runtimes write themselves. */
import { existsSync } from "node:fs"
import { join, posix } from "node:path"
import { Effect } from "effect"
import { readForeignText, rewriteForeignFile } from "./foreignFile.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { changedSubmodules } from "./submodules.ts"

/** A changed or untracked path, relative to the root, with `/`; a directory ends in one. `code`: git's two letters for it. */
export interface Change {
  readonly code: string
  readonly path: string
}

/**
 * The entries of `git status --porcelain=v1 -z`, in git's order; of a rename both the new and the old path.
 */
export const readStatus = (porcelain: string): ReadonlyArray<Change> => {
  const fields = porcelain.split("\0")
  const changes: Array<Change> = []
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]
    if (field === undefined || field.length < 4) continue
    const code = field.slice(0, 2)
    changes.push({ code, path: field.slice(3) })
    // The old path of a rename or copy follows as a field without a status.
    if (/[RC]/.test(code)) {
      const origin = fields[++at]
      if (origin !== undefined && origin !== "") changes.push({ code, path: origin })
    }
  }
  return changes
}

export interface ChangesRequest {
  /** `normal`: an untracked directory is one entry. */
  readonly untracked: "all" | "normal"
  /** Whether the old path of a rename is told apart from a deleted file. */
  readonly renames?: boolean
  /** Only changes below this path. */
  readonly below?: string
}

/**
 * What `git status` says of a working tree, submodules included, without running what the configuration of submodules names.
 * `failed`: git gave no answer.
 */
export const workingTreeChanges = Effect.fn("workingTreeChanges")(function* (
  directory: string,
  { below, renames = true, untracked }: ChangesRequest,
  options: GitOptions = {}
) {
  const args = [
    ...["status", "--porcelain=v1", "-z", `--untracked-files=${untracked}`],
    ...(renames ? [] : ["--no-renames"]),
    ...["--", ...(below === undefined ? [] : [below])]
  ]
  const status = yield* runGit(directory, args, options)
  if (status.exitCode !== 0) return { _tag: "failed", ...status } as const
  const changes = readStatus(status.stdout)
  const known = new Set(changes.map(({ path }) => path))
  const inside = yield* changedSubmodules(directory, known, options)
  const more = inside
    .filter((path) => below === undefined || path.startsWith(below))
    .map((path): Change => ({ code: " M", path }))
  return { _tag: "changes", changes: [...changes, ...more] } as const
})

/** Reprise's state, in the working tree in which it is used. */
export const stateFolder = ".reprise"

/** The user's own settings, in the root of the repository; not if the repository has a file of this name. */
export const localSettings = "reprise.local.toml"

const sharedDirectory = ".planning/"

/** In it each phase has a folder. */
export const phasesFolder = ".planning/phases"

/** The files that Reprise writes for a phase, in the phase's folder, next to other files. */
export const fileNamesOfPhase = [
  ".continuation-state.json",
  ".continuation-state.json.tmp",
  "SUMMARY.md",
  "SUMMARY.md.tmp"
] as const

const isFileOfPhase = (path: string): boolean =>
  posix.dirname(posix.dirname(path)) === phasesFolder && fileNamesOfPhase.some((name) => posix.basename(path) === name)

/** Whether Reprise's files may lie at or below `path` next to other files. */
export const mayContainOwnFiles = (path: string): boolean => path.startsWith(sharedDirectory)

/**
 * Whether Reprise itself writes a file of this name. `path`: relative to the working tree, with `/`. A file that git tracks is the
 * repository's, whatever its name.
 */
export const isOwnName = (path: string): boolean => path.startsWith(`${stateFolder}/`) || isFileOfPhase(path)

/** Whether a change is only that Reprise has written a file of its own. */
export const isOwnFile = ({ code, path }: Change): boolean => code === "??" && isOwnName(path)

/** A larger configuration is nobody's. */
const largestBytes = 1024 * 1024

/** Whether OpenCode reads a file of this name as its configuration, and may add the address of a schema to it. */
export const isRuntimeConfig = (path: string): boolean => /(^|\/)opencode\.jsonc?$/.test(path)

const schemaAddress = '\n  "$schema": "https://opencode.ai/config.json",'

/** What OpenCode writes into a configuration file without a schema whenever it reads one: that is not a change of anybody's. */
const withSchemaAddress = (committed: string): string => committed.replace(/^\s*\{/, `{${schemaAddress}`)

/** What such a file held before, if it began with its brace. */
export const withoutSchemaAddress = (found: string): string =>
  found.startsWith(`{${schemaAddress}`) ? `{${found.slice(1 + schemaAddress.length)}` : found

const isByRuntimeOnly = (
  directory: string,
  path: string,
  options: GitOptions | undefined
): Effect.Effect<boolean, ProgramFailed> =>
  Effect.flatMap(runGit(directory, ["cat-file", "--filters", `HEAD:${path}`], options), (committed) =>
    committed.exitCode === 0
      ? Effect.tryPromise(() => readForeignText(join(directory, path), { largestBytes, follow: false })).pipe(
          Effect.map((found) => found === withSchemaAddress(committed.stdout)),
          Effect.orElseSucceed(() => false)
        )
      : Effect.succeed(false)
  )

/** For each a git is started. Nobody has more, and what a runtime wrote into further ones is told as a change. */
const mostConfigs = 100

/** Without the files that only an agent's runtime changed. Of one that git does not track nobody can say. */
export const withoutRuntimeChanges = Effect.fn("withoutRuntimeChanges")(function* (
  directory: string,
  changes: ReadonlyArray<Change>,
  options?: GitOptions,
  most = mostConfigs
): Effect.fn.Return<ReadonlyArray<Change>, ProgramFailed> {
  const configs = changes.filter(({ code, path }) => code !== "??" && isRuntimeConfig(path)).slice(0, most)
  const byRuntime = new Set(yield* Effect.filter(configs, ({ path }) => isByRuntimeOnly(directory, path, options)))
  return changes.filter((change) => !byRuntime.has(change))
})

/** Where OpenCode looks for its configuration in the working tree in which it works. */
const runtimeConfigs = ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]

/**
 * Takes the schema's address, which OpenCode writes whenever it loads a configuration without one, out of what git tracks:
 * else `git add --all` of an agent commits it. A file that is otherwise changed, too, stays as it is, and so does one that
 * cannot be read or written.
 */
export const undoRuntimeChanges = Effect.fn("undoRuntimeChanges")(
  (directory: string, options?: GitOptions): Effect.Effect<void> =>
    Effect.forEach(
      runtimeConfigs.filter((path) => existsSync(join(directory, path))),
      (path) =>
        Effect.gen(function* () {
          const staged = yield* runGit(directory, ["cat-file", "--filters", `:${path}`], options)
          if (staged.exitCode !== 0) return
          yield* Effect.tryPromise(() =>
            rewriteForeignFile(join(directory, path), { largestBytes }, (found) =>
              found === withSchemaAddress(staged.stdout) ? staged.stdout : undefined
            )
          )
        }).pipe(Effect.ignore),
      { discard: true }
    )
)
