/** The one way in which Reprise runs git. */
import { Effect } from "effect"
import { findBlockingFile } from "./blockingFile.ts"
import { hardened, hardenedVariables } from "./gitHardening.ts"
import { splitPath } from "./programPath.ts"
import { ProgramFailed, type ProgramOutput, runProgram } from "./runProgram.ts"

/** Paths are not patterns, and objects are themselves. */
const exactly = ["--literal-pathspecs", "--no-replace-objects"]

/**
 * The environment for git: `GIT_*` variables of the host are dropped, since they would direct git to another
 * repository. git does not prompt, takes no lock that it could do without, and speaks English.
 */
const environmentOf = (host: Readonly<Record<string, string | undefined>>): Record<string, string> => {
  const kept = Object.entries(host).flatMap(([name, value]) =>
    value === undefined || name.startsWith("GIT_") ? [] : [[name, value] as const]
  )
  return { ...Object.fromEntries(kept), PATH: splitPath(host["PATH"] ?? "", []).outside, ...hardenedVariables }
}

/** Whether git said that it was run where there is no working tree: in a bare repository, or in git's own directory. */
export const saysNoWorkTree = (stderr: string): boolean =>
  /must be run in a work tree|cannot use bare repository/i.test(stderr)

/** Files that git looks at with the configuration of another repository. */
export interface GitPlace {
  /** The git directory whose configuration counts. */
  readonly gitDirectory: string
  readonly workTree: string
  readonly index: string
  readonly objects: string
  /** Patterns of files that are ignored, besides those in the tree. */
  readonly exclude?: string
}

export interface GitOptions {
  /** Written to git's standard input. */
  readonly input?: string
  /** What git inherits, without its `GIT_*` variables. Default: this process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Default: two minutes. */
  readonly timeoutMs?: number
  /** Default: as for any program. */
  readonly largestOutputBytes?: number
  /** Whether git is ended with success, and its output cut, when it writes more. Default: that fails. */
  readonly cutsOutput?: boolean
  /** Absent: the repository of the directory. */
  readonly place?: GitPlace
  /** The file that is the index, in place of the repository's own. */
  readonly index?: string
  /** Gets what git writes piece by piece, however much it is; `stdout` is empty then. */
  readonly take?: (piece: Buffer) => void
}

const placeVariables = ({ gitDirectory, index, objects, workTree }: GitPlace): Record<string, string> => ({
  GIT_DIR: gitDirectory,
  GIT_WORK_TREE: workTree,
  GIT_INDEX_FILE: index,
  GIT_OBJECT_DIRECTORY: objects
})

/** git seldom needs so long; when it does, a look at the tree costs little beside it. */
const lateAfter = "2 seconds"

/** Fails when git is late and a file is found on which it waits; else never completes. */
const untilBlocked = (directory: string): Effect.Effect<never, ProgramFailed> =>
  Effect.promise((signal) => findBlockingFile(directory, signal)).pipe(
    Effect.flatMap((found) =>
      found === undefined ? Effect.never : new ProgramFailed({ program: "git", reason: "blocked", cause: found })
    ),
    Effect.delay(lateAfter)
  )

/**
 * Runs git in a directory and gives its exit code and its output; any exit code is a success here. Arguments are an
 * array, so nothing is read by a shell, but a value that starts with `-` is still an option: put `--end-of-options` or
 * `--` before values from outside. Fails with `ProgramFailed` when git is not installed, does not end in time, writes too much,
 * or waits for a file that never answers, such as a named pipe as `.gitignore`; that is found out after two seconds.
 *
 * @example const { stdout } = yield* runGit(root, ["rev-parse", "--show-toplevel"])
 */
export const runGit = (
  directory: string,
  args: ReadonlyArray<string>,
  { environment = process.env, index, place, ...options }: GitOptions = {}
): Effect.Effect<ProgramOutput, ProgramFailed> =>
  runProgram({
    program: "git",
    args: hardened([...exactly, ...args]),
    directory,
    environment: {
      ...environmentOf(environment),
      ...(place === undefined ? {} : placeVariables(place)),
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index })
    },
    ...options
  }).pipe(Effect.raceFirst(untilBlocked(directory)))
