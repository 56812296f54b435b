/** What went wrong, as a sentence, the next step and the exit code of protocol.md. */

import * as Cause from "effect/Cause"
import * as CliError from "effect/cli/CliError"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { Exit as CliExit, CliFailure, exitCodes } from "./CliFailure.ts"
import { color, errorJson, say, visible } from "./Printer.ts"

export interface Telling {
  readonly asJson: boolean
  /** Show where it happened. */
  readonly debug: boolean
}

interface Told {
  readonly code: string
  readonly message: string
  readonly hint: string
}

const tell = ({ code, hint, message }: Told, { asJson }: Telling): void => {
  if (asJson) errorJson({ code, message, hint })
  say(`${color.red("reprise:")} ${visible(message)}`)
  if (hint !== "") say(visible(hint))
}

/** `Did you mean 'reprise run'? ` or nothing. */
const didYouMean = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `Did you mean ${suggestions.map((one) => `'${one}'`).join(" or ")}? `

/** One mistake, the one that explains the others: after an unknown command no flag is known. */
const mistake = (help: CliError.ShowHelp): Told => {
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
  const hint = `${didYouMean(suggestions)}'${path} --help' shows what it takes.`
  return { code: "usage", message: messages.join("\n"), hint }
}

const usage = (help: CliError.ShowHelp, telling: Telling): number => {
  if (help.errors.length === 0) return exitCodes.done
  tell(mistake(help), telling)
  return exitCodes.wrongUse
}

const unexpected = (error: unknown, cause: Cause.Cause<unknown>): Told => ({
  code: "unexpected",
  message: error instanceof Error ? error.message : String(Cause.squash(cause)),
  hint: "'reprise doctor' looks for what is wrong; --debug shows where it happened."
})

/** Says whatever is worth saying of an ended program and gives its exit code. */
export const conclude = (exit: Exit.Exit<unknown, unknown>, telling: Telling): number => {
  if (Exit.isSuccess(exit)) return exitCodes.done
  const { cause } = exit
  if (Cause.hasInterruptsOnly(cause)) return exitCodes.interrupted
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof CliExit) return error.exitCode
  if (error instanceof CliError.ShowHelp) return usage(error, telling)
  tell(error instanceof CliFailure ? error : unexpected(error, cause), telling)
  if (telling.debug) say(Cause.pretty(cause))
  return error instanceof CliFailure ? error.exitCode : exitCodes.missing
}
