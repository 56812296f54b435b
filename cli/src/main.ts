/** Entry point: parses the command line, runs the command, ends with its exit code. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { closeUnknownFiles, leaveTree } from "@reprise/process"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import manifest from "../package.json" with { type: "json" }
import { CommandTree } from "./commands/completion.ts"
import { presentation, readArguments, withoutHelpOfUnknown } from "./commands/parser.ts"
import { root } from "./commands/root.ts"
import { exitCodes } from "./terminal/exitCodes.ts"
import { say } from "./terminal/Printer.ts"
import { reportExit } from "./terminal/reportExit.ts"
import { visible } from "./terminal/visible.ts"

// Before any program is started: it would have what this process was started with, and agents can write what lies in the repository.
closeUnknownFiles()
leaveTree(process.env, process.cwd())

const commands = Completions.fromCommand(root)
const args = withoutHelpOfUnknown(readArguments(process.argv.slice(2)), commands)
const reportOptions = { asJson: args.includes("--json"), debug: args.includes("--debug") }

const fiber = Command.runWith(root, { version: manifest.version })(
  args.filter((argument) => argument !== "--debug")
).pipe(
  Effect.provideService(CommandTree, commands),
  Effect.provide(presentation),
  Effect.provide(NodeServices.layer),
  // Standard output is for data.
  Effect.provide(Logger.layer([Logger.withConsoleError(Logger.map(Logger.formatSimple, visible))])),
  Effect.runFork
)

// The first signal shuts down in order, which parks the work; a second one exits at once. Neither loses anything.
let signalled: number | undefined
const slowShutdown = Effect.sync(() => say("Stopping; press Ctrl-C again to exit at once."))
for (const [signal, code] of [
  ["SIGINT", exitCodes.interrupted],
  ["SIGTERM", exitCodes.terminated],
  ["SIGHUP", exitCodes.terminated]
] as const) {
  process.on(signal, () => {
    if (signalled !== undefined) process.exit(code)
    signalled = code
    Effect.runFork(Fiber.interrupt(fiber))
    Effect.runFork(Effect.delay(slowShutdown, "500 millis"))
  })
}

Effect.runFork(Fiber.await(fiber)).addObserver((awaited) => {
  const code = Exit.isSuccess(awaited) ? reportExit(awaited.value, reportOptions) : exitCodes.missing
  // A command that is meant to end by a signal has said so.
  const ended = signalled === exitCodes.terminated ? (process.exitCode ?? signalled) : signalled
  process.exit(ended ?? code)
})
