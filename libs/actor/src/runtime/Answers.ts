/**
 * Answers on their way: refusals and dead letters. They change no actor, and each waits for the broker's disk, so they
 * are stored side by side and not in the queue. A queue waits for the answers of its key before it writes a decision.
 */
import { Effect, FiberSet, Latch, Semaphore } from "effect"

export interface Answers {
  /** Begins to store an answer to an input of this key; the acknowledgement of the input is part of it. */
  readonly give: (key: string, answer: Effect.Effect<void>) => void
  /** Waits until every answer of this key is stored. */
  readonly given: (key: string) => Effect.Effect<void>
}

/** Enough that the broker's disk is never idle; each still gets its acknowledgement before it is sent again. */
const atOnce = 32
const graceMs = 1_000

/** Answers that end with the scope: those on their way get a second to finish then, and are interrupted. */
export const makeAnswers = Effect.fnUntraced(function* () {
  const fibers = yield* FiberSet.make<void, never>()
  const run = yield* FiberSet.runtime(fibers)()
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(fibers).pipe(Effect.timeoutOption(graceMs), Effect.ignore))
  const slots = yield* Semaphore.make(atOnce)
  const waiting = new Map<string, { count: number; readonly none: Latch.Latch }>()

  const give = (key: string, answer: Effect.Effect<void>) => {
    const ofKey = waiting.get(key) ?? { count: 0, none: Latch.makeUnsafe() }
    waiting.set(key, ofKey)
    ofKey.count += 1
    const done = Effect.sync(() => {
      ofKey.count -= 1
      if (ofKey.count > 0) return
      waiting.delete(key)
      ofKey.none.openUnsafe()
    })
    run(slots.withPermits(1)(answer).pipe(Effect.ensuring(done)))
  }
  const given = (key: string) => Effect.suspend(() => waiting.get(key)?.none.await ?? Effect.void)
  return { give, given } satisfies Answers
})
