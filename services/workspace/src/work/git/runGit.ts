/** Runs git for a workspace. Arguments are arrays, so that nothing a message named is ever read by a shell. */
import { childEnvironment, GitEnded, type ProgramFailed, type ProgramOutput, runGit } from "@reprise/process"
import { Effect } from "effect"
import { asNotAFile, GitFault, HostFault, Impossible, type NotAFile } from "../faults.ts"

/** That git did not get to its end. */
export type NoAnswer = HostFault | Impossible | NotAFile
export type GitResult<A> = Effect.Effect<A, GitFault | NoAnswer>

/** A file that git waits for, and output without an end, are the same at the next try. */
export const noAnswer = ({ cause, message, reason }: ProgramFailed): NoAnswer =>
  reason === "output"
    ? new Impossible({ reason: message })
    : (asNotAFile(cause) ?? new HostFault({ operation: "git", cause }))

/** The same for an answer that took several gits. */
export const noAnswerOfGits = (failed: ProgramFailed): GitFault | NoAnswer =>
  failed.cause instanceof GitEnded ? new GitFault(failed.cause) : noAnswer(failed)

/** Whatever git did; the caller reads the exit code. */
export const attempt = (
  directory: string,
  args: ReadonlyArray<string>,
  input?: string
): Effect.Effect<ProgramOutput, NoAnswer> =>
  runGit(directory, args, {
    environment: childEnvironment(process.env),
    ...(input === undefined ? {} : { input })
  }).pipe(Effect.mapError(noAnswer))

const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""
const subcommandOf = (args: ReadonlyArray<string>) =>
  args.find((arg) => /^[a-z]/.test(arg) && !arg.includes("=")) ?? "git"

const faultOf = (args: ReadonlyArray<string>, { exitCode, stderr }: ProgramOutput) =>
  new GitFault({ operation: subcommandOf(args), exitCode, stderr })

/** The output of a command that must succeed. */
export const text = (directory: string, args: ReadonlyArray<string>, input?: string): GitResult<string> =>
  Effect.flatMap(attempt(directory, args, input), (done) =>
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
