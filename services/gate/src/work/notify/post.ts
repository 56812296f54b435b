/** Sends one request to a channel. What the channel answers besides its status is not read. */
import { defined } from "@reprise/protocol"
import { Clock, Effect, Redacted } from "effect"
import { type Outcome, outcomeOf } from "../../notify/attempts.ts"
import type { Notices } from "../../notify/Notice.ts"
import { requestOf } from "../../notify/requestOf.ts"
import { answersIn, type HttpChannel, longestWaitMs, type SendOptions } from "./Channel.ts"
import { signature } from "./sign.ts"

const codeOf = (thrown: unknown): string => {
  const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown
  if (cause instanceof Error && "code" in cause && typeof cause.code === "string") return cause.code
  return cause instanceof Error ? cause.name : "unknown"
}

/** Codes of connections over which nothing was sent. */
const neverSent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EOWNNETWORK"
])

/** Fetch refuses the ports of other protocols, before it connects. */
const isRefusedPort = (thrown: unknown): boolean =>
  thrown instanceof TypeError && thrown.cause instanceof Error && thrown.cause.message === "bad port"

/** What becomes of a request that got no answer. No words of the failure: they may hold the address. */
export const notSent = (thrown: unknown, timeoutMs: number): Outcome => {
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    return { _tag: "Failed", reason: `it did not answer within ${timeoutMs / 1000} seconds`, maybeReceived: true }
  }
  if (isRefusedPort(thrown)) return { _tag: "Refused", reason: "its port is none that HTTP may use" }
  const code = codeOf(thrown)
  return { _tag: "Failed", reason: `it cannot be reached (${code})`, maybeReceived: !neverSent.has(code) }
}

/** Never fails. */
export const post = Effect.fn("post")(function* (channel: HttpChannel, notices: Notices, options: SendOptions = {}) {
  const { origin, timeoutMs = longestWaitMs } = options
  const { chat, name, preset, secret, token } = channel
  const nowMs = yield* Clock.currentTimeMillis
  const request = requestOf(
    {
      name,
      preset,
      url: Redacted.value(channel.url),
      ...defined({ chat }),
      ...(token === undefined ? {} : { token: Redacted.value(token) })
    },
    notices,
    origin,
    answersIn(channel, notices, options, nowMs)
  )
  const signed = secret === undefined ? {} : { "reprise-signature": signature(secret, nowMs, request.body) }
  return yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(request.url, {
        method: "POST",
        headers: { ...request.headers, ...signed },
        body: request.body,
        redirect: "manual",
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      })
      await response.body?.cancel()
      return { status: response.status, retryAfter: response.headers.get("retry-after") }
    },
    catch: (thrown) => notSent(thrown, timeoutMs)
  }).pipe(
    Effect.matchEffect({
      onSuccess: ({ retryAfter, status }) =>
        Effect.map(Clock.currentTimeMillis, (answeredMs) => outcomeOf(status, retryAfter, answeredMs)),
      onFailure: Effect.succeed
    })
  )
})
