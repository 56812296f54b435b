/** How a command ends when it does not succeed: a code for programs, a sentence and the next step for people. */
import * as Schema from "effect/Schema"
import { type ExitCode, exitCodes } from "./exitCodes.ts"

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
