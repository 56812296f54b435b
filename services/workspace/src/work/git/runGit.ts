/** The one place that starts git. Arguments are arrays, so that nothing a message named is ever read as an option. */
import { Effect } from "effect"
import { GitFault, type HostFault } from "../faults.ts"
import { type Captured, capture, childEnvironment, Spawner } from "../process/runProcess.ts"

export type GitResult<A> = Effect.Effect<A, GitFault | HostFault>

export interface RunGit {
  /** Whatever git did; the caller reads the exit code. */
  readonly attempt: (
    directory: string,
    args: ReadonlyArray<string>,
    input?: string
  ) => Effect.Effect<Captured, HostFault>
  /** The output of a command that must succeed. */
  readonly text: (directory: string, args: ReadonlyArray<string>, input?: string) => GitResult<string>
  /** The first line of the output of a command that must succeed. */
  readonly line: (directory: string, args: ReadonlyArray<string>) => GitResult<string>
  /** A question answered by exit code: 0 is yes, 1 is no. */
  readonly asks: (directory: string, args: ReadonlyArray<string>) => GitResult<boolean>
  /** The first line of the output; undefined when git exits with 1. */
  readonly optional: (directory: string, args: ReadonlyArray<string>) => GitResult<string | undefined>
}

const timeoutMs = 120_000

/** Before every subcommand: paths are no patterns, objects are not replaced, and nothing of the repository is executed. */
const always = ["--no-pager", "--literal-pathspecs", "--no-replace-objects", "-c", "core.fsmonitor=false"]

const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""
const subcommandOf = (args: ReadonlyArray<string>) =>
  args.find((arg) => /^[a-z]/.test(arg) && !arg.includes("=")) ?? "git"

const faultOf = (args: ReadonlyArray<string>, { exitCode, stderr }: Captured) =>
  new GitFault({ operation: subcommandOf(args), exitCode, stderr })

export const makeRunGit: Effect.Effect<RunGit, never, Spawner> = Effect.gen(function* () {
  const spawner = yield* Spawner
  const environment = {
    ...childEnvironment(process.env),
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C"
  }

  const attempt: RunGit["attempt"] = (directory, args, input) =>
    capture(
      {
        command: "git",
        args: [...always, ...args],
        directory,
        environment,
        ...(input === undefined ? {} : { input })
      },
      timeoutMs
    ).pipe(Effect.provideService(Spawner, spawner))

  const text: RunGit["text"] = (directory, args, input) =>
    Effect.flatMap(attempt(directory, args, input), (done) =>
      done.exitCode === 0 ? Effect.succeed(done.stdout) : Effect.fail(faultOf(args, done))
    )

  /** Exit codes 0 and 1 are answers; any other is a fault. */
  const answer = <A>(
    directory: string,
    args: ReadonlyArray<string>,
    read: (exitCode: 0 | 1, stdout: string) => A
  ): GitResult<A> =>
    Effect.flatMap(attempt(directory, args), (done) =>
      done.exitCode === 0 || done.exitCode === 1
        ? Effect.succeed(read(done.exitCode, done.stdout))
        : Effect.fail(faultOf(args, done))
    )

  return {
    attempt,
    text,
    line: (directory, args) => Effect.map(text(directory, args), firstLine),
    asks: (directory, args) => answer(directory, args, (exitCode) => exitCode === 0),
    optional: (directory, args) =>
      answer(directory, args, (exitCode, stdout) => (exitCode === 0 ? firstLine(stdout) : undefined))
  }
})
