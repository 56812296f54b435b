/** Runs a program of the system and collects what it prints. */
import { runProgram } from "@reprise/process"
import { Effect, Schema } from "effect"

export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  command: Schema.String,
  exitCode: Schema.NullOr(Schema.Int),
  output: Schema.String
}) {
  override get message() {
    const how = this.exitCode === null ? "could not run" : `ended with ${this.exitCode}`
    return `${this.command} ${how}: ${this.output.trim().split("\n").slice(-3).join(" ")}`
  }
}

/** The variables that an installed program gets from this process: where programs are, where to keep files, how to reach the network. */
const environment = (): Record<string, string> => {
  const allowed = /^(PATH|HOME|TMPDIR|(http|https|ftp|no|all)_proxy)$/i
  const kept = Object.entries(process.env).filter(([name]) => allowed.test(name))
  return { ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""])), LC_ALL: "C" }
}

export interface CommandOptions {
  readonly directory?: string
  /** Default: ten seconds. */
  readonly timeoutMs?: number
}

/** Succeeds with standard output followed by standard error when the program exits with 0. Ended with the fiber. */
export const runCommand = Effect.fnUntraced(function* (
  program: string,
  args: ReadonlyArray<string>,
  { timeoutMs = 10_000, ...options }: CommandOptions = {}
) {
  const { exitCode, stderr, stdout } = yield* runProgram({
    program,
    args,
    environment: environment(),
    timeoutMs,
    ...options
  }).pipe(Effect.mapError(({ message }) => new CommandFailed({ command: program, exitCode: null, output: message })))
  if (exitCode === 0) return stdout + stderr
  const output = stderr.trim() === "" ? "it printed no error" : stderr
  return yield* new CommandFailed({ command: program, exitCode, output })
})
