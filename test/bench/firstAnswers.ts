/** How long fresh processes take to answer for an actor with a short history, and for one with a long history. */
import { type Broker, Messenger } from "@reprise/actor"
import { Effect, type Layer } from "effect"
import { figuresOf } from "./figures.ts"

const rounds = 30

/** Milliseconds until the first answer for that actor. */
const firstAnswer = (name: string) =>
  Effect.gen(function* () {
    const messenger = yield* Messenger
    const started = performance.now()
    yield* messenger.query("orchestrator", "show", { id: name })
    return performance.now() - started
  })

/**
 * Asks the actors `short` and `long` in turn and prints the medians with their ratio. `system`: an orchestrator that is
 * built again for each question.
 */
export const compareFirstAnswers = Effect.fnUntraced(function* <E, R>(
  system: Layer.Layer<Messenger | Broker, E, R>,
  names: { readonly short: string; readonly long: string }
) {
  const times = { short: [] as Array<number>, long: [] as Array<number> }
  for (let round = 0; round < rounds; round++) {
    times.short.push(yield* Effect.provide(firstAnswer("short"), system))
    times.long.push(yield* Effect.provide(firstAnswer("long"), system))
  }
  const [short, long] = [figuresOf(times.short), figuresOf(times.long)]
  process.stdout.write(`first answer for ${names.short}: p50 ${short.p50.toFixed(1)} ms\n`)
  process.stdout.write(`first answer for ${names.long}: p50 ${long.p50.toFixed(1)} ms\n`)
  process.stdout.write(`ratio: ${(long.p50 / short.p50).toFixed(2)}\n`)
})
