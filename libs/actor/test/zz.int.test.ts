import { describe, it } from "@effect/vitest"
import { subjects } from "@reprise/protocol"
import { Effect, Stream } from "effect"
import { actorLayer, Broker, drain, Messenger } from "../src/index.ts"
import { counter } from "./support/Counter.ts"
import { makeStop, misbehaving, stopsBeforeAppending } from "./support/misbehave.ts"
import { followNow, journalOf, sendAll } from "./support/observe.ts"
import { jetStreamWorld, waitUntil } from "./support/systems.ts"

const s = subjects("t")
describe("z", () => {
  it.live(
    "poison",
    () =>
      Effect.gen(function* () {
        const world = yield* jetStreamWorld({ maxDeliveries: 2 })
        const watching = yield* world.start()
        yield* sendAll("a", [1]).pipe(Effect.provide(watching))
        for (let d = 0; d < 2; d++) {
          yield* Effect.gen(function* () {
            const stop = yield* makeStop
            yield* world.start(
              misbehaving(actorLayer(counter), (b) => ({
                ...stopsBeforeAppending(stop)(),
                consume: (spec, take) =>
                  b.consume(spec, (d) => {
                    console.log(spec.durable, d.sequence, d.deliveryCount)
                    take({
                      ...d,
                      nak: (ms) => {
                        console.log("nak", ms)
                        d.nak(ms)
                      }
                    })
                  })
              }))
            )
            console.log("waiting", d)
            yield* stop.reached
            console.log("reached", d)
          }).pipe(Effect.scoped)
          console.log("closed")
        }
      }).pipe(Effect.scoped),
    12000
  )
  it.live(
    "follow",
    () =>
      Effect.gen(function* () {
        const world = yield* jetStreamWorld({ maxDeliveries: 2 })
        const one = yield* world.start()
        yield* Effect.gen(function* () {
          const broker = yield* Broker
          const m = yield* Messenger
          for (const r of ["1", "2", "3"]) yield* m.publish("gate", { _tag: "RunPaused", runId: "k" as any })
          const sub = s.event("gate", "k", "RunPaused")
          for (const from of ["beginning" as const, { sequence: 2 }, { since: "2020-01-01T00:00:00Z" }]) {
            console.log(from)
            console.log(
              yield* broker
                .follow([sub], from)
                .pipe(Stream.take(1), Stream.runCollect, Effect.timeoutOption("3 seconds"))
            )
          }
        }).pipe(Effect.provide(one))
      }).pipe(Effect.scoped),
    12000
  )
})
