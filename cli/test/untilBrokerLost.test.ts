import { assert, describe, it } from "@effect/vitest"
import { QueryFailed } from "@reprise/actor"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { BrokerRole, untilBrokerLost } from "../src/system/broker.ts"
import { missing, wrongUse } from "../src/terminal/CliFailure.ts"

const role = {
  owns: false,
  works: false,
  requireQuota: Effect.void,
  lost: Effect.never,
  full: Effect.never,
  patienceMs: 30_000
}

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
    ["as people are told", missing(unanswered.code, unanswered.message, unanswered.hint, unanswered)]
  ] as const)("is repeated as long as patience lasts while no service answers, %s", ([, failure]) =>
    Effect.map(attemptsOf(failure), (attempts) => assert.isAbove(attempts, 100))
  )

  it.effect("is not repeated when it says itself that what it should end does not run", () =>
    Effect.map(attemptsOf(wrongUse("not-running", "The session is over.", "Look.")), (attempts) =>
      assert.strictEqual(attempts, 1)
    )
  )
})
