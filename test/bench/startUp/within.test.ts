import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { within } from "./within.ts"

describe("a limit for a step of a benchmark", () => {
  it.effect("gives what comes in time", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* within(1, "the answer", Effect.succeed(7)), 7)
    })
  )

  it.effect("names what does not come, and does not wait for its end", () =>
    Effect.gen(function* () {
      const endless = Effect.onInterrupt(Effect.never, () => Effect.never)
      const waiting = yield* Effect.forkChild(Effect.exit(within(60, "the first prompt", endless)))
      yield* TestClock.adjust("60 seconds")
      const exit = yield* Fiber.join(waiting)
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "the first prompt did not come within 60 s")
    })
  )
})
