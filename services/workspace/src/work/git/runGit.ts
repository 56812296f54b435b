/** Runs git for a workspace. Arguments are arrays, so that nothing a message named is ever read by a shell. */
import {
  childEnvironment,
  GitEnded,
  type GitOptions,
  type ProgramFailed,
  type ProgramOutput,
  runGit
} from "@reprise/process"
import { Effect } from "effect"
import { GitFault, type NoAnswer, noAnswer } from "../faults.ts"

export type GitResult<A> = Effect.Effect<A, GitFault | NoAnswer>

const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""

/** Options of git itself may come before it. */
export const subcommandOf = (args: ReadonlyArray<string>) =>
  args.find((arg) => /^[a-z]/.test(arg) && !arg.includes("=")) ?? "git"

/** For git in the top folder of a working tree: where a command removed `.git`, the repository around it is another one. */
export const atTop = () => ({ environment: childEnvironment(process.env), isTop: true }) satisfies GitOptions

/** The same for an answer that took several gits. */
export const noAnswerOfGits =
  (operation: string) =>
  (failed: ProgramFailed): GitFault | NoAnswer =>
    failed.cause instanceof GitEnded ? new GitFault(failed.cause) : noAnswer(operation)(failed)

/** Whatever git did in the top folder of a working tree; the caller reads the exit code. */
export const attempt = (
  directory: string,
  args: ReadonlyArray<string>,
  options: Pick<GitOptions, "input" | "isTop" | "shared"> = {}
): Effect.Effect<ProgramOutput, NoAnswer> =>
  runGit(directory, args, { ...atTop(), ...options }).pipe(Effect.mapError(noAnswer(subcommandOf(args))))

const faultOf = (args: ReadonlyArray<string>, { exitCode, stderr }: ProgramOutput) =>
  new GitFault({ operation: subcommandOf(args), exitCode, stderr })

/** The output of a command that must succeed. */
export const text = (
  directory: string,
  args: ReadonlyArray<string>,
  input?: string,
  options: Pick<GitOptions, "shared"> = {}
): GitResult<string> =>
  Effect.flatMap(attempt(directory, args, { ...options, ...(input === undefined ? {} : { input }) }), (done) =>
    done.exitCode === 0 ? Effect.succeed(done.stdout) : Effect.fail(faultOf(args, done))
  )

/** The first line of the output of a command that must succeed. */
export const line = (directory: string, args: ReadonlyArray<string>): GitResult<string> =>
  Effect.map(text(directory, args), firstLine)

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

/** A question answered by exit code: 0 is yes, 1 is no. */
export const exitsWithZero = (directory: string, args: ReadonlyArray<string>): GitResult<boolean> =>
  answer(directory, args, (exitCode) => exitCode === 0)

/** The first line of the output; undefined when git exits with 1. */
export const optional = (directory: string, args: ReadonlyArray<string>): GitResult<string | undefined> =>
  answer(directory, args, (exitCode, stdout) => (exitCode === 0 ? firstLine(stdout) : undefined))

/** Absolute path of the top folder of the working tree around a folder; fails outside of one. */
export const topLevel = (directory: string): GitResult<string> => {
  const args = ["rev-parse", "--show-toplevel"]
  return Effect.flatMap(attempt(directory, args, { isTop: false }), (done) =>
    done.exitCode === 0 ? Effect.succeed(firstLine(done.stdout)) : Effect.fail(faultOf(args, done))
  )
}
