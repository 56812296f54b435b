import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { startScriptedModel } from "./server/ScriptedModel.ts"

const command = Command.make(
  "scripted-model",
  {
    script: Argument.Path("SCRIPT.json").pipe(Argument.withDescription("The script to play")),
    port: Flag.Int("port").pipe(Flag.withDefault(0), Flag.withDescription("The port to listen on (0: a free one)")),
    record: Flag.Path("record").pipe(
      Flag.optional,
      Flag.withDescription("Append every call to this file, as a JSON line")
    )
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
).pipe(
  Command.withDescription("Serve a model that plays a script, over the protocols of OpenAI (two), Anthropic and Google")
)

/** Prints one JSON line with the URLs to standard output, then serves until it is stopped. */
command.pipe(
  Command.run({ version: "0.1.0" }),
  Effect.tapError((error) => Console.error(error.message)),
  Effect.provide(NodeServices.layer),
  (main) => NodeRuntime.runMain(main, { disableErrorReporting: true })
)
