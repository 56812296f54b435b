/** Sends one message to the push service of one browser. What the service answers besides its status is not read. */
import { defined } from "@reprise/protocol"
import { Clock, Effect } from "effect"
import { type Outcome, outcomeOf } from "../../notify/attempts.ts"
import { isClosing, type Notices } from "../../notify/Notice.ts"
import { pushMessage, pushTopic } from "../../notify/pushMessage.ts"
import { vapidHeader } from "../../notify/vapid.ts"
import { longestWaitMs, type PushChannel, type SendOptions } from "./Channel.ts"
import { callPublic } from "./callPublic.ts"
import { encryptPush } from "./encryptPush.ts"
import { notSent } from "./post.ts"
import { digestOf } from "./vapidKey.ts"

/** How long a push service keeps a message for a browser that is not there: after a day a reminder says the same. */
const keptSeconds = 24 * 60 * 60

/** The browser has unsubscribed, or was removed. */
const gone: ReadonlySet<number> = new Set([404, 410])

/** Never fails. */
export const push = Effect.fn("push")(function* (channel: PushChannel, notices: Notices, options: SendOptions = {}) {
  const { timeoutMs = longestWaitMs } = options
  const { browser, forget, loopback, vapid } = channel
  const { endpoint, keys } = browser
  const nowMs = yield* Clock.currentTimeMillis
  const topic = pushTopic(notices, digestOf)
  const answered = yield* Effect.tryPromise({
    try: (signal) =>
      callPublic({
        url: endpoint,
        headers: {
          authorization: vapidHeader(endpoint, vapid, nowMs),
          "content-encoding": "aes128gcm",
          "content-type": "application/octet-stream",
          ttl: `${keptSeconds}`,
          urgency: isClosing(notices[0]) ? "low" : "high",
          ...defined({ topic })
        },
        body: encryptPush(JSON.stringify(pushMessage(notices)), keys),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        loopback
      }),
    catch: (thrown) => notSent(thrown, timeoutMs)
  }).pipe(
    Effect.matchEffect({
      onFailure: (outcome): Effect.Effect<Outcome> => Effect.succeed(outcome),
      onSuccess: ({ retryAfter, status }): Effect.Effect<Outcome> =>
        gone.has(status)
          ? Effect.as(forget, { _tag: "Delivered", warning: "it is not told any more: it has unsubscribed" })
          : Effect.map(Clock.currentTimeMillis, (answeredMs) => outcomeOf(status, retryAfter, answeredMs))
    })
  )
  return answered
})
