import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { startScriptedModel } from "./ScriptedModel.ts"

const command = Command.make(
  "scripted-model",
  {
    script: Argument.Path("SCRIPT.json").pipe(Argument.withDescription("What the model answers, and to whom")),
    port: Flag.Int("port").pipe(Flag.withDefault(0), Flag.withDescription("The port to listen on (0: a free one)")),
    record: Flag.Path("record").pipe(Flag.optional, Flag.withDescription("Append every call to this file"))
  },
  ({ script, port, record }) =>
    Effect.scoped(
      Effect.gen(function* () {
        const model = yield* startScriptedModel({
          script,
          port,
          ...Option.match(record, { onNone: () => ({}), onSome: (recordPath) => ({ recordPath }) })
        })
        yield* Console.log(JSON.stringify({ url: model.url, openaiUrl: model.openaiUrl, port: model.port }))
        return yield* Effect.never
      })
    )
).pipe(Command.withDescription("A model that answers from a script, over the OpenAI and the Anthropic protocol"))

/** Runs the scripted model as a program: one JSON line with its URLs on standard output, then answers until ended. */
command.pipe(
  Command.run({ version: "0.1.0" }),
  Effect.tapError((error) => Console.error(error.message)),
  Effect.provide(NodeServices.layer),
  (main) => NodeRuntime.runMain(main, { disableErrorReporting: true })
)
