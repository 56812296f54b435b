/** Entry point: parses, runs, ends with the exit code. What commands do is loaded when they are called. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import manifest from "../package.json" with { type: "json" }
import { CommandTree } from "./commands/completion.ts"
import { presentation } from "./commands/presentation.ts"
import { readArguments } from "./commands/readArguments.ts"
import { root } from "./commands/root.ts"
import { exitCodes } from "./terminal/CliFailure.ts"
import { conclude } from "./terminal/endCommand.ts"
import { say } from "./terminal/Printer.ts"

const args = readArguments(process.argv.slice(2))
const telling = { asJson: args.includes("--json"), debug: args.includes("--debug") }

const fiber = Command.runWith(root, { version: manifest.version })(
  args.filter((argument) => argument !== "--debug")
).pipe(
  Effect.provideService(CommandTree, Completions.fromCommand(root)),
  Effect.provide(presentation),
  Effect.provide(NodeServices.layer),
  Effect.runFork
)

// The first signal parks: everything under way is let go in order. The second leaves at once; nothing is lost either way.
let signalled: number | undefined
const slow = Effect.sync(() => say("stopping what is under way; once more leaves at once"))
for (const [signal, code] of [
  ["SIGINT", exitCodes.interrupted],
  ["SIGTERM", exitCodes.terminated],
  ["SIGHUP", exitCodes.terminated]
] as const) {
  process.on(signal, () => {
    if (signalled !== undefined) process.exit(code)
    signalled = code
    Effect.runFork(Fiber.interrupt(fiber))
    Effect.runFork(Effect.delay(slow, "500 millis"))
  })
}

Effect.runFork(Fiber.await(fiber)).addObserver((awaited) => {
  const code = Exit.isSuccess(awaited) ? conclude(awaited.value, telling) : exitCodes.missing
  process.exit(signalled ?? code)
})
