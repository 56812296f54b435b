/** How a command ends when it does not succeed: a code for programs, a sentence and the next step for people. */
import * as Schema from "effect/Schema"

/** docs/design/protocol.md#the-command-line */
export const exitCodes = {
  done: 0,
  runFailed: 1,
  wrongUse: 2,
  missing: 3,
  waiting: 4,
  aborted: 5,
  interrupted: 130,
  terminated: 143
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export class CliFailure extends Schema.TaggedError<CliFailure>()("CliFailure", {
  code: Schema.String,
  message: Schema.String,
  hint: Schema.String,
  exitCode: Schema.Finite,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

const failure = (exitCode: ExitCode) => (code: string, message: string, hint: string, cause?: unknown) =>
  new CliFailure({ code, message, hint, exitCode, ...(cause === undefined ? {} : { cause }) })

/** The command was called wrongly: its arguments, or the plan. */
export const wrongUse = failure(exitCodes.wrongUse)
/** Something the run needs is missing or broken; `reprise doctor` checks the same things. */
export const missing = failure(exitCodes.missing)

/** Ends a command with an exit code after everything has been printed. */
export class Exit extends Schema.TaggedError<Exit>()("Exit", { exitCode: Schema.Finite }) {
  override get message() {
    return `exit ${this.exitCode}`
  }
}
export const exitWith = (exitCode: ExitCode) => new Exit({ exitCode })
