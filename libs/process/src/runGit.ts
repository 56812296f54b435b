/** The one way in which Reprise runs git. */
import { dirname } from "node:path"
import { Context, Effect, Schedule } from "effect"
import { findBlockingFile } from "./blockingFile.ts"
import { commonDirectoryOf } from "./commonDirectory.ts"
import { costlyFile } from "./costlyFile.ts"
import { hardened, hardenedVariables, reachingVariables, subcommandAt } from "./gitHardening.ts"
import { leasedFile } from "./leases.ts"
import { usualMemoryBytes } from "./memoryLimit.ts"
import { splitPath } from "./programPath.ts"
import { ProgramFailed, type ProgramOutput, runProgram } from "./runProgram.ts"

/** Paths are not patterns, and objects are themselves. */
const exactly = ["--literal-pathspecs", "--no-replace-objects"]

/**
 * The environment for git: `GIT_*` variables of the host are dropped, since they would direct git to another
 * repository. git does not prompt, takes no lock that it could do without, and speaks English.
 */
const environmentOf = (
  host: Readonly<Record<string, string | undefined>>,
  reachesRemotes: boolean
): Record<string, string> => {
  const kept = Object.entries(host).flatMap(([name, value]) =>
    value === undefined || name.startsWith("GIT_") ? [] : [[name, value] as const]
  )
  const own = reachesRemotes ? reachingVariables : hardenedVariables
  return { ...Object.fromEntries(kept), PATH: splitPath(host["PATH"] ?? "", []).outside, ...own }
}

/** Whether git said that it was run where there is no working tree: in a bare repository, or in git's own directory. */
export const saysNoWorkTree = (stderr: string): boolean =>
  /must be run in a work tree|cannot use bare repository/i.test(stderr)

/** The object that git said is missing, where a remote of a partial clone has it. */
export const objectNotFetched = (stderr: string): string | undefined =>
  /could not fetch ([0-9a-f]+) from promisor remote/.exec(stderr)?.[1]

const notFetched =
  "hint: Reprise's git fetches nothing by itself, and this object was left out of the partial clone. Fetch what is missing with\n" +
  "hint: 'git fetch --refetch --no-filter REMOTE', or check out a commit that needs it, and try again.\n"

const withNextStep = (output: ProgramOutput): ProgramOutput =>
  output.exitCode !== 0 && objectNotFetched(output.stderr) !== undefined
    ? { ...output, stderr: `${output.stderr}${notFetched}` }
    : output

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

/** A working tree of a repository whose shared part git reaches through another folder. */
export interface SharedPlace {
  readonly gitDirectory: string
  readonly workTree: string
  /** In place of the folder that the worktrees of the repository share. */
  readonly folder: string
}

/** What each git may take. */
export interface GitLimits {
  /** Default: half of the machine's memory, at most 4 GB. Where the system has no such limit, any. */
  readonly largestMemoryBytes: number
  readonly largestOutputBytes?: number
  readonly timeoutMs?: number
}

/** Those of a call count more. */
export const GitLimits = Context.Reference<GitLimits>("@reprise/process/GitLimits", {
  defaultValue: () => ({ largestMemoryBytes: usualMemoryBytes() })
})

export interface GitOptions {
  /** Written to git's standard input. */
  readonly input?: string | Buffer
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
  /** Absent: as the repository has it. */
  readonly shared?: SharedPlace
  /**
   * Whether the directory is the top of a working tree: then no repository around it counts, such as that of a worktree inside of
   * it. Default: no.
   */
  readonly isTop?: boolean
  /** Whether git may talk to another repository, as for `fetch`, `push` and `clone`. Default: no. */
  readonly reachesRemotes?: boolean
  /** Settings, as `core.symlinks=true`, that count more than any configuration. */
  readonly settings?: ReadonlyArray<string>
  /** The file that is the index, in place of the repository's own. */
  readonly index?: string
  /** Gets what git writes piece by piece; `stdout` is empty then. */
  readonly take?: (piece: Buffer) => void
}

const placeVariables = ({ gitDirectory, index, objects, workTree }: GitPlace): Record<string, string> => ({
  GIT_DIR: gitDirectory,
  GIT_WORK_TREE: workTree,
  GIT_INDEX_FILE: index,
  GIT_OBJECT_DIRECTORY: objects
})

const sharedVariables = ({ folder, gitDirectory, workTree }: SharedPlace): Record<string, string> => ({
  GIT_DIR: gitDirectory,
  GIT_WORK_TREE: workTree,
  GIT_COMMON_DIR: folder
})

/** git seldom needs so long; when it does, reading the tree costs little beside it. */
const lateAfter = "2 seconds"

/** git may come to a file that has a lease at any time. */
const leaseOnTheWay = (directory: string) =>
  Effect.promise((signal) => leasedFile(directory, signal)).pipe(
    Effect.repeat({ schedule: Schedule.spaced("2 seconds"), until: (found) => found !== undefined })
  )

/** Fails when git is late and a file is found on which it waits; else never completes. For whoever runs git in another way. */
export const untilBlocked = (directory: string): Effect.Effect<never, ProgramFailed> =>
  findBlockingFile(directory).pipe(
    Effect.flatMap((found) => (found === undefined ? leaseOnTheWay(directory) : Effect.succeed(found))),
    Effect.flatMap((cause) => new ProgramFailed({ program: "git", reason: "blocked", cause })),
    Effect.delay(lateAfter)
  )

/** With what may be the reason, where git was ended for what it took. */
const explained = (directory: string, failure: ProgramFailed): Effect.Effect<never, ProgramFailed> =>
  failure.reason === "busy" || failure.reason === "memory"
    ? Effect.promise((signal) => costlyFile(directory, signal)).pipe(
        Effect.timeoutOrElse({ duration: "6 seconds", orElse: () => Effect.undefined }),
        Effect.flatMap((found) => {
          const { details, program, reason } = failure
          return found === undefined || details.includes(found.path)
            ? failure
            : new ProgramFailed({ program, reason, cause: `${details}. ${found.path} ${found.what}` })
        })
      )
    : Effect.fail(failure)

/** These make a repository of their own. */
const makeRepositories = ["clone", "init"]

/** Undefined: git finds it, in a folder without `.git`, or was told. */
const commonOf = (directory: string, args: ReadonlyArray<string>, place: GitPlace | SharedPlace | undefined) =>
  place !== undefined ||
  args.some((word) => word === "-C" || word.startsWith("--git-dir")) ||
  makeRepositories.includes(args[subcommandAt(args)] ?? "")
    ? Effect.undefined
    : Effect.tryPromise({
        try: () => commonDirectoryOf(directory),
        catch: (cause) => new ProgramFailed({ program: "git", reason: "blocked", cause })
      })

/**
 * Runs git in a directory and gives its exit code and its output; any exit code is a success here. Arguments are an
 * array, so nothing is read by a shell, but a value that starts with `-` is still an option: put `--end-of-options` or
 * `--` before values from outside. Fails with `ProgramFailed` when git is not installed, does not end in time, wants more memory
 * or writes more than `GitLimits` allow, or waits for a file that never answers, such as a named pipe as `.gitignore`; that is
 * found out after two seconds.
 *
 * @example const { stdout } = yield* runGit(root, ["rev-parse", "--show-toplevel"])
 */
export const runGit = Effect.fnUntraced(function* (
  directory: string,
  args: ReadonlyArray<string>,
  {
    environment = process.env,
    index,
    isTop = false,
    place,
    reachesRemotes = false,
    shared,
    settings = [],
    ...options
  }: GitOptions = {}
): Effect.fn.Return<ProgramOutput, ProgramFailed> {
  const limits = yield* GitLimits
  const common = yield* commonOf(directory, args, place ?? shared)
  return yield* runProgram({
    program: "git",
    args: hardened([...exactly, ...settings.flatMap((setting) => ["-c", setting]), ...args]),
    directory,
    environment: {
      ...environmentOf(environment, reachesRemotes),
      ...(common === undefined ? {} : { GIT_COMMON_DIR: common }),
      ...(isTop ? { GIT_CEILING_DIRECTORIES: dirname(directory) } : {}),
      ...(place === undefined ? {} : placeVariables(place)),
      ...(shared === undefined ? {} : sharedVariables(shared)),
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index })
    },
    ...limits,
    ...options
  }).pipe(
    Effect.raceFirst(untilBlocked(directory)),
    Effect.map(withNextStep),
    Effect.catch((failure) => explained(directory, failure))
  )
})
