/**
 * The time of one durable step of an actor: a command is delivered, decided and journalled, its outcome is published,
 * and it is acknowledged; compared with a raw append to the same server, which writes to disk before it answers.
 */
import { ActorConfig, actorLayer, Broker, JetStreamBroker, Messenger } from "@reprise/actor"
import { EmbeddedServer, ensureStreams, formatVersion, publish as store } from "@reprise/nats"
import { type Key, subjects } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { embedded } from "./embedded.ts"
import { type Figures, figuresOf } from "./figures.ts"
import { stepper, toStepper } from "./stepper.ts"

const prefix = "bench"
const rounds = 1_000
const warmUp = 200
const parallelKeys = 64

const say = (name: string, { p50, p99 }: Figures) =>
  process.stdout.write(`${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms\n`)

/** A broker that measures the time from the delivery of a command to its acknowledgement. */
const timed = (times: Array<number>) =>
  Layer.effect(
    Broker,
    Effect.map(Broker, (broker) =>
      Broker.of({
        ...broker,
        consume: (spec, take) =>
          broker.consume(spec, (delivery) => {
            const delivered = performance.now()
            take({
              ...delivery,
              ack: () => {
                delivery.ack()
                times.push(performance.now() - delivered)
              }
            })
          })
      })
    )
  )

/** Appends journal entries of the same size one after the other, each with the expected sequence of its subject. */
const rawAppends = Effect.gen(function* () {
  const times: Array<number> = []
  const { journal, streams } = subjects(prefix)
  const body = JSON.stringify({ filler: "x".repeat(400) })
  let expectedLastSubjectSequence = 0
  for (let n = 0; n < warmUp + rounds; n++) {
    const started = performance.now()
    const subject = journal("raw", "raw")
    const message = { stream: streams.journal, subject, id: `raw-${n}`, body, expectedLastSubjectSequence }
    expectedLastSubjectSequence = (yield* store(message)).sequence
    times.push(performance.now() - started)
  }
  return times.slice(warmUp)
})

const measure = Effect.gen(function* () {
  const { server } = yield* EmbeddedServer
  const times: Array<number> = []
  const broker = timed(times).pipe(
    Layer.provide(JetStreamBroker.layer),
    Layer.provideMerge(ActorConfig.layer({ prefix }))
  )
  const system = actorLayer(stepper).pipe(Layer.provideMerge(Messenger.layer), Layer.provideMerge(broker))

  yield* ensureStreams(prefix, { storageBytes: 512 * 1024 ** 2 })
  const raw = figuresOf(yield* rawAppends)
  const steps = yield* Effect.gen(function* () {
    const messenger = yield* Messenger
    const step = (key: Key) => messenger.send(toStepper(key).Step({ count: 1 }))
    const acknowledged = (count: number) => Effect.yieldNow.pipe(Effect.repeat({ until: () => times.length >= count }))

    for (let n = 0; n < warmUp + rounds; n++) {
      yield* step("one")
      yield* acknowledged(n + 1)
    }
    const alone = figuresOf(times.slice(warmUp))

    const before = times.length
    const started = performance.now()
    yield* Effect.forEach(
      Array.from({ length: rounds * 2 }, (_, n) => n),
      (n) => step(`key-${n % parallelKeys}`),
      { concurrency: 64, discard: true }
    )
    yield* acknowledged(before + rounds * 2)
    const perSecond = (rounds * 2 * 1_000) / (performance.now() - started)
    return { alone, perSecond }
  }).pipe(Effect.provide(system))

  process.stdout.write(
    `nats-server ${formatVersion(server.version)}, every write on disk before it is acknowledged; ${rounds} rounds\n`
  )
  say("raw append", raw)
  say("durable step", steps.alone)
  process.stdout.write(`ratio: ${(steps.alone.p50 / raw.p50).toFixed(2)} × a raw append\n`)
  process.stdout.write(`${parallelKeys} actors side by side: ${steps.perSecond.toFixed(0)} steps per second\n`)
})

export const durableStep = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(embedded)))

if (import.meta.main) await durableStep()
