/** One queue per key: jobs of a key run in order, one at a time; keys run side by side. An idle queue costs nothing. */
import { Effect, FiberSet } from "effect"

export interface KeyedQueues {
  /** Puts a job at the end of a key's queue. */
  readonly push: (key: string, job: Effect.Effect<unknown>) => void
}

const graceMs = 1_000

/** Queues that end with the scope: jobs under way get a second to finish then, and are interrupted. */
export const makeKeyedQueues = Effect.fnUntraced(function* () {
  const fibers = yield* FiberSet.make<void, never>()
  const run = yield* FiberSet.runtime(fibers)()
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(fibers).pipe(Effect.timeoutOption(graceMs), Effect.ignore))
  const waiting = new Map<string, Array<Effect.Effect<unknown>>>()

  const runAll = Effect.fnUntraced(function* (key: string, jobs: Array<Effect.Effect<unknown>>) {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) yield* job
    waiting.delete(key)
  })

  const push = (key: string, job: Effect.Effect<unknown>) => {
    const jobs = waiting.get(key)
    if (jobs !== undefined) {
      jobs.push(job)
      return
    }
    const started = [job]
    waiting.set(key, started)
    run(runAll(key, started))
  }
  return { push } satisfies KeyedQueues
})
