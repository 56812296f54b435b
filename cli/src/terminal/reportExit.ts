/** Reports how a command ended: what went wrong, the next step, and the exit code. */
import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { Exit as CliExit, CliFailure } from "./CliFailure.ts"
import { exitCodes } from "./exitCodes.ts"
import { color, errorJson, say } from "./Printer.ts"
import { visible } from "./visible.ts"

export interface ReportOptions {
  readonly asJson: boolean
  /** Show where in the code the error happened. */
  readonly debug: boolean
}

interface Problem {
  readonly code: string
  readonly message: string
  readonly hint: string
}

const print = ({ code, hint, message }: Problem, { asJson }: ReportOptions): void => {
  if (asJson) errorJson({ code, message, hint })
  say(`${color.red("reprise:")} ${visible(message)}`)
  if (hint !== "") say(visible(hint))
}

/** `Did you mean 'reprise run'? ` or nothing. */
const didYouMean = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `Did you mean ${suggestions.map((one) => `'${one}'`).join(" or ")}? `

/** Only the mistake that explains the others: after an unknown command every flag is unknown too. */
const usageProblem = (help: CliError.ShowHelp): Problem => {
  const path = help.commandPath.join(" ")
  for (const error of help.errors) {
    if (error._tag !== "UnknownSubcommand") continue
    const suggested = didYouMean(error.suggestions.map((name) => `${path} ${name}`))
    const message = `There is no command '${path} ${error.subcommand}'.`
    return { code: "usage", message, hint: `${suggested}'${path} --help' lists the commands.` }
  }
  const suggestions = help.errors.flatMap((error) => (error._tag === "UnrecognizedOption" ? error.suggestions : []))
  const messages = help.errors.map((error) =>
    error._tag === "UnrecognizedOption"
      ? `'${path}' has no flag ${error.option}.`
      : (CliError.getUserMessage(error) ?? error.message)
  )
  const hint = `${didYouMean(suggestions)}'${path} --help' shows its arguments and flags.`
  return { code: "usage", message: messages.join("\n"), hint }
}

const reportUsage = (help: CliError.ShowHelp, options: ReportOptions): number => {
  if (help.errors.length === 0) return exitCodes.done
  print(usageProblem(help), options)
  return exitCodes.wrongUse
}

const unexpected = (error: unknown, cause: Cause.Cause<unknown>): Problem => ({
  code: "unexpected",
  message: error instanceof Error ? error.message : String(Cause.squash(cause)),
  hint: "'reprise doctor' checks for common causes; --debug shows where it happened."
})

/** Prints the failure, if any, and returns the exit code. */
export const reportExit = (exit: Exit.Exit<unknown, unknown>, options: ReportOptions): number => {
  if (Exit.isSuccess(exit)) return exitCodes.done
  const { cause } = exit
  if (Cause.hasInterruptsOnly(cause)) return exitCodes.interrupted
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof CliExit) return error.exitCode
  if (error instanceof CliError.ShowHelp) return reportUsage(error, options)
  print(error instanceof CliFailure ? error : unexpected(error, cause), options)
  if (options.debug) say(visible(Cause.pretty(cause)))
  return error instanceof CliFailure ? error.exitCode : exitCodes.missing
}
