import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import type { CallRecord } from "./CallRecord.ts"
import { decodeScript, readScript, type ScriptError } from "./decodeScript.ts"
import { Holds } from "./Holds.ts"
import { makeRecorder } from "./Recorder.ts"
import { modelRoutes } from "./routes.ts"
import type { ScriptInput } from "./Script.ts"
import { ScriptPlayer } from "./ScriptPlayer.ts"

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
  /** `http://127.0.0.1:PORT`: the base URL of the Anthropic protocol. */
  readonly url: string
  /** The base URL of the OpenAI protocol. */
  readonly openaiUrl: string
  /** Every call so far, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<CallRecord>>
  /** The calls that got no answer, for want of a rule or of something the rule needs: in a good test there are none. */
  readonly unmatched: Effect.Effect<ReadonlyArray<CallRecord>>
  /** The first call, past or to come, for which the condition holds. */
  readonly awaitCall: (condition: (call: CallRecord) => boolean) => Effect.Effect<CallRecord>
  /** Completes once a call has come to the hold of this name. */
  readonly awaitHeld: (name: string) => Effect.Effect<void>
  /** Lets every call at the hold of this name go on, now and later. */
  readonly release: (name: string) => Effect.Effect<void>
  /** Closes a released hold again. */
  readonly rearm: (name: string) => Effect.Effect<void>
  /** Plays another script from its beginning; the calls so far are kept. */
  readonly play: (script: ScriptInput) => Effect.Effect<void, ScriptError>
}

const load = (script: ScriptInput | string) =>
  typeof script === "string" ? Effect.provide(readScript(script), NodeServices.layer) : decodeScript(script)

/**
 * Starts a scripted model on loopback; it is stopped with the scope, open answers being cut.
 * Fails with `ScriptError` when the script cannot be used and `ServeError` when the port cannot be had.
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
  // Closed before the server waits for its connections: a held answer must not hold up the end of a test.
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

/** The scripted model as a service of a test. */
export class ScriptedModel extends Context.Service<ScriptedModel, ScriptedModelHandle>()("testing/ScriptedModel") {
  static readonly layer = (options: ScriptedModelOptions) =>
    Layer.effect(ScriptedModel, Effect.map(startScriptedModel(options), ScriptedModel.of))
}
