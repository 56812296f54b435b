import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { warningOfWait } from "../src/waiting.ts"

it.effect("a service that waits warns of each reason at once, and of the same one every minute", () => {
  const lines: Array<unknown> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push(...(message as ReadonlyArray<unknown>)))
  return Effect.gen(function* () {
    const warn = warningOfWait()
    for (let seconds = 0; seconds <= 61; seconds++) {
      yield* warn({ message: seconds === 5 ? "no streams" : "no broker" })
      yield* TestClock.adjust("1 second")
    }
    assert.deepStrictEqual(lines, ["no broker", "no streams", "no broker"])
    yield* TestClock.adjust("5 seconds")
    yield* warn({ message: "no broker" })
    assert.lengthOf(lines, 4)
  }).pipe(Effect.provide(Logger.layer([logger])))
})
