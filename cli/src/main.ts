/** Entry point: parses, runs, and turns what went wrong into a sentence, the next step and the exit code of protocol.md. */
import { NodeServices } from "@effect/platform-node"
import { Cause, Effect, Exit as EffectExit, Fiber, Option } from "effect"
import { CliError, Command } from "effect/cli"
import manifest from "../package.json" with { type: "json" }
import { CliFailure, Exit, exitCodes } from "./CliFailure.ts"
import { root } from "./commands/root.ts"
import { color, errorJson, say, visible } from "./Printer.ts"

const args = process.argv.slice(2)
const debug = args.includes("--debug")
const asJson = args.includes("--json")

const tell = (failure: { code: string; message: string; hint: string }): void => {
  if (asJson) errorJson(failure)
  say(`${color.red("reprise:")} ${visible(failure.message)}`)
  if (failure.hint !== "") say(visible(failure.hint))
}

const usage = (help: CliError.ShowHelp): number => {
  if (help.errors.length === 0) return exitCodes.done
  const [first] = help.errors
  tell({
    code: "usage",
    message: help.errors.map((error) => CliError.getUserMessage(error) ?? error.message).join("\n"),
    hint: `'${help.commandPath.join(" ")} --help' shows what it takes.`
  })
  return first === undefined ? exitCodes.done : exitCodes.wrongUse
}

/** The exit code of an ended program; whatever is worth saying is said. */
const conclude = (exit: EffectExit.Exit<void, unknown>): number => {
  if (EffectExit.isSuccess(exit)) return exitCodes.done
  const { cause } = exit
  if (Cause.hasInterruptsOnly(cause)) return exitCodes.interrupted
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof Exit) return error.exitCode
  if (error instanceof CliError.ShowHelp) return usage(error)
  const failure =
    error instanceof CliFailure
      ? error
      : {
          code: "unexpected",
          message: error instanceof Error ? error.message : String(Cause.squash(cause)),
          hint: "'reprise doctor' looks for what is wrong; --debug shows where it happened."
        }
  tell(failure)
  if (debug) say(Cause.pretty(cause))
  return error instanceof CliFailure ? error.exitCode : exitCodes.missing
}

const program = Command.runWith(root, { version: manifest.version, renderErrors: false })(
  args.filter((argument) => argument !== "--debug")
).pipe(Effect.provide(NodeServices.layer))

const fiber = Effect.runFork(program)

// The first signal parks: everything under way is let go in order. The second leaves at once; nothing is lost either way.
let signalled: number | undefined
for (const [signal, code] of [
  ["SIGINT", exitCodes.interrupted],
  ["SIGTERM", exitCodes.terminated],
  ["SIGHUP", exitCodes.terminated]
] as const) {
  process.on(signal, () => {
    if (signalled !== undefined) process.exit(code)
    signalled = code
    Effect.runFork(Fiber.interrupt(fiber))
  })
}

Effect.runFork(Fiber.await(fiber)).addObserver((awaited) => {
  const code = EffectExit.isSuccess(awaited) ? conclude(awaited.value) : exitCodes.missing
  process.exit(signalled ?? code)
})
