/** What people read when a service could not be asked: which one, why, and the next step; nothing of how it is asked. */
import { assert, describe, it } from "@effect/vitest"
import { PermissionDenied, RequestTimedOut, StreamFull } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { BrokerFault } from "../src/broker/faults.ts"
import { Broker, Messenger } from "../src/index.ts"
import { memoryWorld } from "./support/systems.ts"

const operation = "ask t.api.gate.list"

describe("a query that fails at the broker", () => {
  it.effect.each([
    { cause: new RequestTimedOut({ operation }), code: "no-answer", says: /^The gate did not answer in time/ },
    { cause: new StreamFull({ operation, reason: "" }), code: "broker", says: /^The gate could not be asked/ },
    {
      cause: new PermissionDenied({ operation: "publish", subject: "a.b", identity: "reviewer" }),
      code: "not-permitted",
      says: /^The identity 'reviewer' may not use 'a\.b'/
    }
  ])("says which service, and names no subject ($code)", ({ cause, code, says }) =>
    Effect.gen(function* () {
      const world = yield* memoryWorld()
      const broken = Layer.effect(
        Broker,
        Effect.map(Broker, (broker) => ({ ...broker, request: () => new BrokerFault({ operation, cause }) }))
      )
      const messenger = yield* Layer.build(Messenger.layer.pipe(Layer.provide(broken))).pipe(
        Effect.flatMap((context) => Effect.provide(Messenger, context)),
        Effect.provide(yield* world.start())
      )
      const failed = yield* Effect.flip(messenger.query("gate", "list", {}))
      assert.strictEqual(failed.code, code)
      assert.match(failed.message, says)
      assert.notMatch(`${failed.message} ${failed.hint}`, /t\.api|message id/)
    })
  )
})
