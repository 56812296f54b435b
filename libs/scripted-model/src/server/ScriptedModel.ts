import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { ScriptPlayer } from "../player/ScriptPlayer.ts"
import { decodeScript, readScript, type ScriptError } from "../script/readScript.ts"
import type { ScriptInput } from "../script/Script.ts"
import { type CallRecord, makeRecorder } from "./CallRecord.ts"
import { Holds } from "./Holds.ts"
import { modelRoutes } from "./routes.ts"

export interface ScriptedModelOptions {
  /** The script, or the path of its JSON file. */
  readonly script: ScriptInput | string
  /** Default: a free port. */
  readonly port?: number
  /** Also append every call to this file, one JSON object a line. */
  readonly recordPath?: string
}

/** A running scripted model. */
export interface ScriptedModelHandle {
  readonly port: number
  /** `http://127.0.0.1:PORT`: the base URL of the protocols of Anthropic and Google. */
  readonly url: string
  /** The base URL of the OpenAI protocol. */
  readonly openaiUrl: string
  /** Every call so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<CallRecord>>
  /** The calls that got no reply, because no rule matched or the rule could not be played. A good test has none. */
  readonly unmatched: Effect.Effect<ReadonlyArray<CallRecord>>
  /** The first call, past or future, for which the condition holds. */
  readonly awaitCall: (condition: (call: CallRecord) => boolean) => Effect.Effect<CallRecord>
  /** Completes once a reply waits at the hold of this name. */
  readonly awaitHeld: (name: string) => Effect.Effect<void>
  /** Releases the hold of this name: replies that wait there go on, and later ones pass. */
  readonly release: (name: string) => Effect.Effect<void>
  /** Closes a released hold. */
  readonly rearm: (name: string) => Effect.Effect<void>
  /** Plays another script from its beginning. The recorded calls are kept. */
  readonly play: (script: ScriptInput) => Effect.Effect<void, ScriptError>
}

const load = (script: ScriptInput | string) =>
  typeof script === "string" ? Effect.provide(readScript(script), NodeServices.layer) : decodeScript(script)

/**
 * Starts a scripted model on loopback. It stops with the scope, which cuts open responses.
 * Fails with `ScriptError` when the script cannot be used, and with `ServeError` when the port is taken.
 */
export const startScriptedModel = Effect.fn("startScriptedModel")(function* (options: ScriptedModelOptions) {
  const script = yield* load(options.script)
  const recorder = yield* makeRecorder(options.recordPath)
  const holds = new Holds()
  let current = { script, player: new ScriptPlayer(script) }
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    host: "127.0.0.1",
    port: options.port ?? 0,
    gracefulShutdownTimeout: 0
  })
  // The server waits for its connections when it closes; without this a held reply would keep a test from ending.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  const routes = modelRoutes({
    player: () => current.player,
    modelName: () => current.script.model,
    recorder,
    holds
  })
  yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(Layer.succeed(HttpServer.HttpServer, server)),
      Layer.provide(NodeHttpServer.layerHttpServices)
    )
  )
  const address = node.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const url = `http://127.0.0.1:${port}`
  const handle: ScriptedModelHandle = {
    port,
    url,
    openaiUrl: `${url}/v1`,
    calls: recorder.calls,
    unmatched: Effect.map(recorder.calls, (calls) => calls.filter((call) => call.problem !== "")),
    awaitCall: recorder.first,
    awaitHeld: (name) => holds.reached(name),
    release: (name) => holds.release(name),
    rearm: (name) => holds.rearm(name),
    play: (input) =>
      Effect.map(decodeScript(input), (next) => {
        current = { script: next, player: new ScriptPlayer(next) }
      })
  }
  return handle
})

/** The scripted model as a service, for tests. */
export class ScriptedModel extends Context.Service<ScriptedModel, ScriptedModelHandle>()(
  "scripted-model/ScriptedModel"
) {
  static readonly layer = (options: ScriptedModelOptions) =>
    Layer.effect(ScriptedModel, Effect.map(startScriptedModel(options), ScriptedModel.of))
}
