import { DateTime, Effect, Layer, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { countTokens, type ModelRequest } from "../player/ModelRequest.ts"
import type { ScriptPlayer } from "../player/ScriptPlayer.ts"
import { calledIn } from "../protocols/google.ts"
import type { Recorder } from "./CallRecord.ts"
import type { Holds } from "./Holds.ts"
import { protocols, respond, respondError } from "./respond.ts"

/** The state behind the routes. `player` is called for every request, because a test may replace the script. */
export interface ModelState {
  readonly player: () => ScriptPlayer
  readonly modelName: () => string
  readonly recorder: Recorder
  readonly holds: Holds
}

const sessionOf = (request: HttpServerRequest.HttpServerRequest): string =>
  request.headers["x-claude-code-session-id"] ?? request.headers["x-session-id"] ?? ""

/** The record of a body that cannot be read. */
const unreadable = {
  model: "",
  effort: "",
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
  const { protocol, model, effort, session, system, messages } = request
  const tools = request.tools.map((tool) => tool.name)
  const about = {
    at: DateTime.formatIso(now),
    protocol,
    model,
    effort,
    session,
    ...recognised,
    system,
    messages,
    tools
  }
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
  const problem = `Scripted model: the body does not follow the ${protocol} protocol: ${why}`
  yield* state.recorder.add({ ...unreadable, at, protocol, session: sessionOf(request), outcome: "invalid", problem })
  return respondError(protocol, 400, problem)
})

/** `inPath`: what the path says of the call, for a protocol whose body does not. */
const decode = Effect.fnUntraced(function* (protocol: ModelRequest["protocol"], inPath: object | undefined) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = yield* request.json
  const whole = inPath === undefined ? body : { ...Object(body), ...inPath }
  return yield* protocols[protocol].decodeRequest(whole, sessionOf(request))
})

/** Runs a handler on the decoded body. A body that does not follow the protocol gets status 400 and the reason. */
const withRequest = <R>(
  state: ModelState,
  protocol: ModelRequest["protocol"],
  handler: (request: ModelRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>,
  inPath?: object
) =>
  Effect.matchEffect(decode(protocol, inPath), {
    onFailure: (error) => refuseBody(state, protocol, error.message),
    onSuccess: handler
  })

const modelList = (name: string) => ({
  object: "list",
  data: [{ id: name, object: "model", type: "model", owned_by: "script", display_name: name, created: 0 }],
  has_more: false
})

const json = HttpServerResponse.jsonUnsafe

/** Runs a handler on the `name` of a path such as `/control/release/:name`. */
const withName = (handler: (name: string) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const params = yield* HttpRouter.params
    yield* handler(params.name ?? "")
    return json({ ok: true })
  })

/** Google's protocol names the model and the method in the path. */
const answerGoogle = Effect.fnUntraced(function* (state: ModelState) {
  const params = yield* HttpRouter.params
  const { method, model } = calledIn(params.call ?? "")
  if (method === "countTokens") {
    const counted = (request: ModelRequest) => Effect.succeed(json({ totalTokens: countTokens(request.promptText) }))
    return yield* withRequest(state, "google", counted, { model, stream: false })
  }
  if (method !== "generateContent" && method !== "streamGenerateContent") {
    return notServed(yield* HttpServerRequest.HttpServerRequest)
  }
  const inPath = { model, stream: method === "streamGenerateContent" }
  return yield* withRequest(state, "google", (request) => answer(state, request), inPath)
})

/** The endpoints of the protocols, and the control endpoints for tests. */
export const modelRoutes = (state: ModelState) =>
  Layer.mergeAll(
    HttpRouter.add(
      "POST",
      "/v1/chat/completions",
      withRequest(state, "openai", (request) => answer(state, request))
    ),
    HttpRouter.add(
      "POST",
      "/v1/responses",
      withRequest(state, "responses", (request) => answer(state, request))
    ),
    HttpRouter.add(
      "POST",
      "/v1/messages",
      withRequest(state, "anthropic", (request) => answer(state, request))
    ),
    HttpRouter.add(
      "POST",
      "/v1/messages/count_tokens",
      withRequest(state, "anthropic", (request) =>
        Effect.succeed(json({ input_tokens: countTokens(request.promptText) }))
      )
    ),
    HttpRouter.add("POST", "/v1beta/models/:call", answerGoogle(state)),
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
      withName((name) => state.holds.release(name))
    ),
    HttpRouter.add(
      "POST",
      "/control/rearm/:name",
      withName((name) => state.holds.rearm(name))
    ),
    HttpRouter.add(
      "GET",
      "/control/reached/:name",
      withName((name) => state.holds.reached(name))
    ),
    HttpRouter.add("*", "/*", Effect.map(HttpServerRequest.HttpServerRequest, notServed))
  )

const notServed = (request: HttpServerRequest.HttpServerRequest) =>
  json({ error: { message: `Scripted model: there is no endpoint ${request.method} ${request.url}` } }, { status: 404 })
