/** Runs a short-lived program of the system and collects what it says. */
import { execFile } from "node:child_process"
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

/** What an installed program may know of this process: where programs are, where to keep files, how to reach the network. */
const environment = (): Record<string, string> => {
  const allowed = /^(PATH|HOME|TMPDIR|(http|https|ftp|no|all)_proxy)$/i
  const kept = Object.entries(process.env).filter(([name]) => allowed.test(name))
  return { ...Object.fromEntries(kept.map(([name, value]) => [name, value ?? ""])), LC_ALL: "C" }
}

export interface CommandOptions {
  readonly cwd?: string
  readonly timeoutMs?: number
}

/** Succeeds with standard output and error together when the program exits with 0. Ended with the fiber. */
export const runCommand = (
  file: string,
  args: ReadonlyArray<string>,
  options: CommandOptions = {}
): Effect.Effect<string, CommandFailed> =>
  Effect.callback((resume, signal) => {
    execFile(
      file,
      [...args],
      {
        cwd: options.cwd,
        env: environment(),
        signal,
        timeout: options.timeoutMs ?? 10_000,
        maxBuffer: 4 * 1024 * 1024
      },
      (error, stdout, stderr) => {
        if (error === null) return resume(Effect.succeed(stdout + stderr))
        const exitCode = typeof error.code === "number" ? error.code : null
        const output = stderr.trim() === "" ? error.message : stderr
        resume(Effect.fail(new CommandFailed({ command: file, exitCode, output })))
      }
    )
  })
