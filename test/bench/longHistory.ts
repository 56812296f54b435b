/**
 * How long a fresh process takes to answer for an actor with a long history, compared with one with a short history:
 * a snapshot and the tail of the journal are read, so the ratio should be near 1.
 */
import { ActorConfig, actorLayer, drain, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams } from "@reprise/nats"
import { Effect, Layer } from "effect"
import { embedded } from "./embedded.ts"
import { compareFirstAnswers } from "./firstAnswers.ts"
import { stepper, toStepper } from "./stepper.ts"

const prefix = "bench"
const histories = { short: 100, long: 10_000 }
const eventsPerCommand = 10

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

const measure = Effect.gen(function* () {
  yield* ensureStreams(prefix, { storageBytes: 512 * 1024 ** 2 })
  yield* write
  yield* compareFirstAnswers(system, {
    short: `${histories.short} events`,
    long: `${histories.long} events`
  })
})

export const longHistory = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(embedded)))
