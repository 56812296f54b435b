import { DateTime, Effect, Layer, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { decodeAnthropicRequest } from "./anthropicRequest.ts"
import type { Holds } from "./Holds.ts"
import type { ModelRequest } from "./ModelRequest.ts"
import { decodeOpenaiRequest } from "./openaiRequest.ts"
import { countTokens } from "./promptText.ts"
import type { Recorder } from "./Recorder.ts"
import { respond, respondError } from "./respond.ts"
import type { ScriptPlayer } from "./ScriptPlayer.ts"

/** What the routes work on. The player is asked for anew with each call, since a test may replace the script. */
export interface ModelState {
  readonly player: () => ScriptPlayer
  readonly modelName: () => string
  readonly recorder: Recorder
  readonly holds: Holds
}

const sessionOf = (request: HttpServerRequest.HttpServerRequest): string =>
  request.headers["x-claude-code-session-id"] ?? request.headers["x-session-id"] ?? ""

/** What is recorded of a body that cannot be read. */
const nothing = {
  model: "",
  role: "",
  kind: "work",
  phase: "",
  cycle: 0,
  turn: 0,
  round: 0,
  lastUser: "",
  system: "",
  messages: [],
  tools: [],
  rule: "",
  step: 0,
  usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0 }
} as const

const answer = Effect.fnUntraced(function* (state: ModelState, request: ModelRequest) {
  const now = yield* DateTime.now
  const { call, outcome, rule, step, usage } = state.player().play(request)
  const { firstUser: _, ...recognised } = call
  const { protocol, model, session, system, messages } = request
  const tools = request.tools.map((tool) => tool.name)
  const about = { at: DateTime.formatIso(now), protocol, model, session, ...recognised, system, messages, tools }
  if (Result.isFailure(outcome)) {
    const { message } = outcome.failure
    yield* state.recorder.add({ ...about, rule, step, usage, outcome: outcome.failure.outcome, problem: message })
    return respondError(protocol, 400, message)
  }
  const kind = outcome.success.fault === undefined ? "answered" : "fault"
  yield* state.recorder.add({ ...about, rule, step, usage, outcome: kind, problem: "" })
  return yield* respond(request, outcome.success, state.holds, Math.floor(DateTime.toEpochMillis(now) / 1000))
})

const refuseBody = Effect.fnUntraced(function* (state: ModelState, protocol: ModelRequest["protocol"], why: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const at = DateTime.formatIso(yield* DateTime.now)
  const problem = `Scripted model: the body is not of the ${protocol} protocol: ${why}`
  yield* state.recorder.add({ ...nothing, at, protocol, session: sessionOf(request), outcome: "invalid", problem })
  return respondError(protocol, 400, problem)
})

const decoders = { openai: decodeOpenaiRequest, anthropic: decodeAnthropicRequest }

const decode = Effect.fnUntraced(function* (protocol: ModelRequest["protocol"]) {
  const request = yield* HttpServerRequest.HttpServerRequest
  return yield* decoders[protocol](yield* request.json, sessionOf(request))
})

/** Runs a handler over the decoded body; a body that is not of the protocol is answered 400 with what is wrong. */
const decoded = <R>(
  state: ModelState,
  protocol: ModelRequest["protocol"],
  handler: (request: ModelRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
) =>
  Effect.matchEffect(decode(protocol), {
    onFailure: (error) => refuseBody(state, protocol, error.message),
    onSuccess: handler
  })

const modelList = (name: string) => ({
  object: "list",
  data: [{ id: name, object: "model", type: "model", owned_by: "script", display_name: name, created: 0 }],
  has_more: false
})

const json = HttpServerResponse.jsonUnsafe

/** `name` of a path such as `/control/release/:name`. */
const named = (handler: (name: string) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const params = yield* HttpRouter.params
    yield* handler(params.name ?? "")
    return json({ ok: true })
  })

/** The two protocols and the control endpoints of a scripted model. */
export const modelRoutes = (state: ModelState) =>
  Layer.mergeAll(
    HttpRouter.add(
      "POST",
      "/v1/chat/completions",
      decoded(state, "openai", (request) => answer(state, request))
    ),
    HttpRouter.add(
      "POST",
      "/v1/messages",
      decoded(state, "anthropic", (request) => answer(state, request))
    ),
    HttpRouter.add(
      "POST",
      "/v1/messages/count_tokens",
      decoded(state, "anthropic", (request) => Effect.succeed(json({ input_tokens: countTokens(request.promptText) })))
    ),
    HttpRouter.add(
      "GET",
      "/v1/models",
      Effect.sync(() => json(modelList(state.modelName())))
    ),
    HttpRouter.add("GET", "/health", json({ ok: true })),
    HttpRouter.add(
      "GET",
      "/control/calls",
      Effect.map(state.recorder.calls, (calls) => json(calls))
    ),
    HttpRouter.add(
      "GET",
      "/control/unmatched",
      Effect.map(state.recorder.calls, (calls) => json(calls.filter((call) => call.problem !== "")))
    ),
    HttpRouter.add(
      "POST",
      "/control/release/:name",
      named((name) => state.holds.release(name))
    ),
    HttpRouter.add(
      "POST",
      "/control/rearm/:name",
      named((name) => state.holds.rearm(name))
    ),
    HttpRouter.add(
      "GET",
      "/control/reached/:name",
      named((name) => state.holds.reached(name))
    ),
    HttpRouter.add("*", "/*", Effect.map(HttpServerRequest.HttpServerRequest, notServed))
  )

const notServed = (request: HttpServerRequest.HttpServerRequest) =>
  json({ error: { message: `Scripted model: nothing is served at ${request.method} ${request.url}` } }, { status: 404 })
