/** How effect/cli is set up: what it reads and what it prints. */
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

/** Joins a text flag and its value with `=` if the parser would take the value for a flag. */
export const readArguments = (typed: ReadonlyArray<string>): ReadonlyArray<string> => {
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

/** Help goes to standard output, usage errors are left to `reportExit`, and only these global flags exist. */
export const presentation = Layer.merge(
  CliOutput.layerPresenter({
    present: (event) =>
      event._tag === "InvalidInvocation" && event.errors.length > 0
        ? Effect.void
        : CliOutput.defaultPresenter.present(event)
  }),
  Layer.succeed(CliConfig.CliConfig, { builtIns: [GlobalFlag.Help, GlobalFlag.Version, debug] })
)
