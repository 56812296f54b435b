import { assert, it } from "@effect/vitest"
import { subjects } from "@reprise/protocol"
import { Context, Effect } from "effect"
import { Broker } from "../src/index.ts"
import { message } from "./support/deliveries.ts"
import { onServer, ownServerWorld } from "./support/systems.ts"

onServer("a subject that is purged while it is read", () => {
  it.live("is read as a whole or not at all, never a part of it", () =>
    Effect.gen(function* () {
      const broker = Context.get(yield* (yield* ownServerWorld()).start(), Broker)
      const subject = subjects("t").event("gate", "purged", "Thing")
      yield* broker.publish([1, 2, 3].map((n) => message(subject, `${subject}-${n}`)))
      const counts = new Set<number>()
      const look = Effect.tap(broker.read("events", subject, 0), (found) => Effect.sync(() => counts.add(found.length)))
      const lookUntilPurged = Effect.repeat(look, { until: (found) => found.length === 0 })
      // Each begins a step later than the one before it, so that the purge meets every step of a look.
      const looks = Array.from({ length: 8 }, (_, steps) =>
        Effect.andThen(Effect.repeat(broker.last("events", subject), { times: steps }), lookUntilPurged)
      )
      yield* Effect.all([broker.purge("events", subject), ...looks], { concurrency: "unbounded" })
      for (const part of [1, 2]) assert.isFalse(counts.has(part), `${part} of 3 messages`)
    }).pipe(Effect.scoped)
  )
})
