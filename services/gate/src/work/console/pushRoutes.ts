/** Browsers that want to be told of questions while no page is open (docs/console.md#notices-and-the-home-screen). */
import { ConsolePush, ConsolePushEnd, ConsolePushSubscription } from "@reprise/protocol"
import { Effect, Schema } from "effect"
import type { PushOwner } from "../../console/pushSubscription.ts"
import type { PushBrowsers } from "../notify/PushBrowsers.ts"
import { NotPossible } from "./ConsoleSources.ts"
import type { Route } from "./Route.ts"
import { bodyOf, data } from "./replies.ts"
import { Visiting } from "./Visiting.ts"

const encodePush = Schema.encodeSync(ConsolePush)

const notHere = new NotPossible({
  code: "no-push",
  message: "This console tells no browser while no page is open.",
  hint: "A channel of docs/notifications.md reaches you then."
})

/** Absent: the console tells nobody. */
export const pushRoutes = (browsers: PushBrowsers | undefined) => {
  const requireBrowsers = browsers === undefined ? Effect.fail(notHere) : Effect.succeed(browsers)

  const owner = Effect.map(Visiting, (visitor): PushOwner => {
    const { mark = "" } = browsers?.rules ?? {}
    return visitor?.user === undefined ? { _tag: "Token", mark } : { _tag: "User", name: visitor.user }
  })

  const subscribe = Effect.gen(function* () {
    const subscription = yield* bodyOf(ConsolePushSubscription)
    const { add } = yield* requireBrowsers
    yield* add(subscription, yield* owner).pipe(
      Effect.mapError(({ code, hint, message }) => new NotPossible({ code, hint, message }))
    )
    return data({})
  })

  const unsubscribe = Effect.gen(function* () {
    const { endpoint } = yield* bodyOf(ConsolePushEnd)
    yield* (yield* requireBrowsers).remove(endpoint)
    return data({})
  })

  const shown = Effect.sync(() => data(encodePush(browsers === undefined ? {} : { publicKey: browsers.publicKey })))

  return [
    { method: "GET", path: "/api/push", access: "reader", reply: shown },
    { method: "POST", path: "/api/push/subscribe", access: "answerer", reply: subscribe },
    { method: "POST", path: "/api/push/unsubscribe", access: "answerer", reply: unsubscribe }
  ] satisfies ReadonlyArray<Route<unknown>>
}
