/**
 * How long a fresh process takes to answer for an actor with a long history, compared with one with a short history:
 * a snapshot and the tail of the journal are read, so the ratio should be near 1.
 */
import { ActorConfig, actorLayer, drain, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { embedded } from "./embedded.ts"
import { figuresOf } from "./figures.ts"
import { stepper, toStepper } from "./stepper.ts"

const prefix = "bench"
const histories = { short: 100, long: 10_000 }
const eventsPerCommand = 10
const rounds = 30

/** A process of its own: nothing of an earlier one is in its memory. */
const system = actorLayer(stepper).pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(JetStreamBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix })),
  Layer.fresh
)

const write = Effect.gen(function* () {
  const messenger = yield* Messenger
  for (const [name, events] of Object.entries(histories)) {
    const commands = Array.from({ length: events / eventsPerCommand })
    yield* Effect.forEach(commands, () => messenger.send(toStepper(name).Step({ count: eventsPerCommand })), {
      concurrency: 50,
      discard: true
    })
  }
  yield* drain
}).pipe(Effect.provide(system))

/** Milliseconds until the first answer for that actor. */
const firstAnswer = (name: string) =>
  Effect.gen(function* () {
    const messenger = yield* Messenger
    const started = performance.now()
    yield* messenger.query("orchestrator", "show", { id: name })
    return performance.now() - started
  }).pipe(Effect.provide(system))

const measure = Effect.gen(function* () {
  yield* ensureStreams(prefix, { storageBytes: 512 * 1024 ** 2 })
  yield* write
  const times: Record<keyof typeof histories, Array<number>> = { short: [], long: [] }
  for (let round = 0; round < rounds; round++) {
    times.short.push(yield* firstAnswer("short"))
    times.long.push(yield* firstAnswer("long"))
  }
  const [short, long] = [figuresOf(times.short), figuresOf(times.long)]
  process.stdout.write(`first answer for ${histories.short} events: p50 ${short.p50.toFixed(1)} ms\n`)
  process.stdout.write(`first answer for ${histories.long} events: p50 ${long.p50.toFixed(1)} ms\n`)
  process.stdout.write(`ratio: ${(long.p50 / short.p50).toFixed(2)}\n`)
})

export const longHistory = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(embedded)))
