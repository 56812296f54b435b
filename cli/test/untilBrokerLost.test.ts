import { assert, describe, it } from "@effect/vitest"
import { BrokerFault, QueryFailed } from "@reprise/actor"
import { RequestTimedOut } from "@reprise/nats"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BrokerLost } from "../src/system/broker/BrokerLost.ts"
import { BrokerRole, lostWithBroker, untilBrokerLost } from "../src/system/broker/broker.ts"
import { failureOf } from "../src/system/broker/messaging.ts"
import { CliFailure, missing, wrongUse } from "../src/terminal/CliFailure.ts"

const role = {
  owns: false,
  works: false,
  requireQuota: Effect.void,
  lost: Effect.never,
  full: Effect.never,
  patienceMs: 30_000
}

const away = new BrokerFault({ operation: "read", cause: new RequestTimedOut({ operation: "read" }) })
const refused = new BrokerFault({ operation: "read", cause: new Error("no such stream") })
/** The process that ran the broker is known to be gone a second after a request failed. */
const lostLater = { ...role, lost: Effect.delay(new BrokerLost({ directory: "here" }), "1 second") }

/** How often an effect that fails like this is tried within a minute. */
const attemptsOf = (failure: Effect.Effect<never, unknown>) =>
  Effect.gen(function* () {
    let attempts = 0
    const counted = Effect.andThen(
      Effect.sync(() => void attempts++),
      failure
    )
    const tried = yield* Effect.forkChild(Effect.flip(untilBrokerLost(counted)))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(tried)
    return attempts
  }).pipe(Effect.provideService(BrokerRole, role))

describe("a command", () => {
  const unanswered = new QueryFailed({ code: "not-running", message: "No gate answers.", hint: "Start it." })

  it.effect.each([
    ["as the query says it", Effect.fail(unanswered)],
    ["since the broker is away", Effect.fail(away)],
    ["as people are told", missing(unanswered.code, unanswered.message, unanswered.hint, unanswered)]
  ] as const)("is repeated as long as patience lasts while no service answers, %s", ([, failure]) =>
    Effect.map(attemptsOf(failure), (attempts) => assert.isAbove(attempts, 100))
  )

  it.effect.each([
    ["also where it is not repeated", { ...lostLater, patienceMs: 0 }],
    ["while it is repeated", lostLater]
  ] as const)("begins again when the broker that did not answer turns out to be lost, %s", ([, service]) =>
    Effect.gen(function* () {
      const tried = yield* Effect.forkChild(Effect.flip(untilBrokerLost(Effect.fail(away))))
      yield* TestClock.adjust("10 seconds")
      assert.instanceOf(yield* Fiber.join(tried), BrokerLost)
    }).pipe(Effect.provideService(BrokerRole, service))
  )

  it.effect("is not repeated when the broker has refused something", () =>
    Effect.map(attemptsOf(Effect.fail(refused)), (attempts) => assert.strictEqual(attempts, 1))
  )

  it.effect("is not repeated when it says itself that what it should end does not run", () =>
    Effect.map(attemptsOf(wrongUse("not-running", "The session is over.", "Look.")), (attempts) =>
      assert.strictEqual(attempts, 1)
    )
  )
})

describe("services that start while their broker ends", () => {
  const started = (error: BrokerFault) =>
    Effect.gen(function* () {
      const services = Layer.effectDiscard(Effect.fail(error))
      const starting = yield* Effect.forkChild(Effect.flip(Effect.scoped(Layer.build(lostWithBroker(services)))))
      yield* TestClock.adjust("10 seconds")
      return failureOf(yield* Fiber.join(starting))
    }).pipe(Effect.provideService(BrokerRole, lostLater))

  it.effect("are lost with it, and start again", () =>
    Effect.map(started(away), (failure) => assert.instanceOf(failure, BrokerLost))
  )

  it.effect("fail when the broker has refused something", () =>
    Effect.map(started(refused), (failure) => assert.instanceOf(failure, CliFailure))
  )
})
