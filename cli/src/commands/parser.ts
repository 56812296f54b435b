/** How effect/cli is set up: what it reads and what it prints. */

import * as Console from "effect/Console"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Flags whose value is free text. */
const textFlags: ReadonlySet<string> = new Set(["--guidance", "--reason"])

/** Text that begins with a dash, such as a list item. Unlike a flag, and a lone dash for standard input, it has blanks. */
const looksLikeFlag = (value: string | undefined): value is string =>
  value?.startsWith("-") === true && /\s/.test(value)

/** `help COMMAND` asks for the help of that command, as `COMMAND --help` does. */
const withHelpFlag = (typed: ReadonlyArray<string>): ReadonlyArray<string> =>
  typed[0] === "help" ? [...typed.slice(1), "--help"] : typed

interface CommandNames {
  readonly name: string
  readonly subcommands: ReadonlyArray<CommandNames>
}

/** Whether the words before the first flag lead to a command, or to what is said to one. */
const isCommand = ({ subcommands }: CommandNames, [word, ...rest]: ReadonlyArray<string>): boolean => {
  if (word === undefined || word.startsWith("-") || subcommands.length === 0) return true
  const named = subcommands.find(({ name }) => name === word)
  return named !== undefined && isCommand(named, rest)
}

const helpFlags: ReadonlySet<string> = new Set(["--help", "-h"])

/**
 * Leaves the flag for help out beside a command that does not exist: the parser would show the help of the command above
 * it, and without the flag it says what was mistyped.
 */
export const withoutHelpOfUnknown = (args: ReadonlyArray<string>, commands: CommandNames): ReadonlyArray<string> =>
  isCommand(commands, args) ? args : args.filter((argument) => !helpFlags.has(argument))

/** Also joins a text flag and its value with `=` if the parser would take the value for a flag. */
export const readArguments = (given: ReadonlyArray<string>): ReadonlyArray<string> => {
  const typed = withHelpFlag(given)
  const read: Array<string> = []
  for (let at = 0; at < typed.length; at += 1) {
    const argument = typed[at] ?? ""
    const value = typed[at + 1]
    if (textFlags.has(argument) && looksLikeFlag(value)) {
      read.push(`${argument}=${value}`)
      at += 1
    } else read.push(argument)
  }
  return read
}

/** Only for the help: `main` reads the flag before anything is parsed, so that it holds for usage errors too. */
const debug = GlobalFlag.Action({
  flag: Flag.Boolean("debug").pipe(
    Flag.withDescription("With an error: show where it happened"),
    Flag.withDefault(false)
  ),
  run: () => Effect.void
})

/** The last line of the help of `reprise` itself. */
const helpOnOneCommand = "'reprise help COMMAND' shows a command's arguments, flags and examples."

const presentHelp = (event: CliOutput.Presenter.Help) =>
  Effect.andThen(
    CliOutput.defaultPresenter.present(event),
    event.commandPath.length === 1 ? Console.log(`\n${helpOnOneCommand}`) : Effect.void
  )

/** What is wrong in a call is left to `reportExit`. */
const present = (event: CliOutput.Presenter.Event): Effect.Effect<void> => {
  if (event._tag === "Help") return presentHelp(event)
  return event._tag === "InvalidInvocation" && event.errors.length > 0
    ? Effect.void
    : CliOutput.defaultPresenter.present(event)
}

/** Help goes to standard output, and only these global flags exist. */
export const presentation = Layer.merge(
  CliOutput.layerPresenter({ present }),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, debug] })
)
