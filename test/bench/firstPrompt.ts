/** The time from `reprise run` to the first prompt at the model, compared with OpenCode's own start. */
import { performance } from "node:perf_hooks"
import { OpenCodeServer } from "@reprise/agent"
import { Effect, Layer } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const rounds = 5

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const started = performance.now()
    yield* effect
    return performance.now() - started
  })

const openCodeAlone = Effect.gen(function* () {
  const world = yield* makeWorld({ plan: plan("One"), script: script() })
  const server = OpenCodeServer.layer({ stateDirectory: `${world.root}/.reprise`, environment: world.environment })
  return yield* timed(
    Effect.flatMap(OpenCodeServer, ({ connection }) => connection).pipe(Effect.provide(Layer.fresh(server)))
  )
}).pipe(Effect.scoped)

const wholeRun = Effect.gen(function* () {
  const world = yield* makeWorld({ plan: plan("One"), script: script() })
  return yield* timed(
    Effect.gen(function* () {
      yield* world.start("run", "PLAN.md")
      yield* world.model.awaitCall(() => true)
    })
  )
}).pipe(Effect.scoped)

export const firstPrompt = (): Promise<void> =>
  Effect.gen(function* () {
    const floors: Array<number> = []
    const runs: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      floors.push(yield* openCodeAlone)
      runs.push(yield* wholeRun)
    }
    const floor = median(floors)
    const run = median(runs)
    process.stdout.write(
      `OpenCode's own start: ${floor.toFixed(0)} ms\nrun to the first prompt, everything cold: ${run.toFixed(0)} ms, ${(run / floor).toFixed(2)} × OpenCode's start (slowest ${Math.max(...runs).toFixed(0)} ms)\n`
    )
  }).pipe(Effect.runPromise)
