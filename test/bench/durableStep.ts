/**
 * The time of one durable step of an actor: a command is delivered, decided and journalled, and its outcome is published;
 * compared with a raw append to the same server, which writes to disk before it answers. Also what a step costs: the
 * processor time of this process, which sends the commands too, and what is stored for it.
 */
import { ActorConfig, actorLayer, Broker, JetStreamBroker, type Message, Messenger } from "@reprise/actor"
import { EmbeddedServer, ensureStreams, formatVersion, Nats, publish as store } from "@reprise/nats"
import { type Key, subjects } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { embedded } from "./embedded.ts"
import { type Figures, figuresOf } from "./figures.ts"
import { stepper, toStepper } from "./stepper.ts"

const prefix = "bench"
const rounds = 1_000
const warmUp = 200
const parallelKeys = 64
const parallelSteps = 6_400

const say = (name: string, { p50, p99 }: Figures) =>
  process.stdout.write(`${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms\n`)

/** The times of the steps that were done, for whoever waits for so many. */
class Steps {
  readonly times: Array<number> = []
  #wanted = Infinity
  #reached = () => {}

  add(ms: number): void {
    this.times.push(ms)
    if (this.times.length >= this.#wanted) this.#reached()
  }

  /** One may wait at a time. */
  done(count: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.#wanted = count
      this.#reached = () => resume(Effect.void)
      if (this.times.length >= count) this.#reached()
    })
  }
}

/** A broker that measures the time from the delivery of a command to its outcome's being stored. */
const timed = (steps: Steps) =>
  Layer.effect(
    Broker,
    Effect.map(Broker, (broker) => {
      const delivered = new Map<string, number>()
      const note = (messages: ReadonlyArray<Message>) => {
        for (const { meta } of messages) {
          const began = delivered.get(meta.causation ?? "")
          if (began !== undefined) steps.add(performance.now() - began)
        }
      }
      return Broker.of({
        ...broker,
        consume: (spec, take) =>
          broker.consume(spec, (delivery) => {
            delivered.set(delivery.header("ce-id"), performance.now())
            take(delivery)
          }),
        publish: (messages) => Effect.tap(broker.publish(messages), () => Effect.sync(() => note(messages)))
      })
    })
  )

/** What was stored so far, by stream. */
const storedSoFar = Effect.gen(function* () {
  const { jsm } = yield* Nats
  const { buckets, streams } = subjects(prefix)
  const { commands, events, journal } = streams
  const names = { commands, journal, events, views: `KV_${buckets.views}` }
  const infos = yield* Effect.promise(() => Promise.all(Object.values(names).map((stream) => jsm.streams.info(stream))))
  return new Map(Object.keys(names).map((name, n) => [name, infos[n]?.state.last_seq ?? 0]))
})

/** Runs `work`, which does so many steps, and prints what each has cost. */
const priced = <A, E, R>(name: string, count: number, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* storedSoFar
    const usedBefore = process.cpuUsage()
    const result = yield* work
    const { system, user } = process.cpuUsage(usedBefore)
    const after = yield* storedSoFar
    const stored = [...after].map(([of, last]) => `${((last - (before.get(of) ?? 0)) / count).toFixed(2)} ${of}`)
    process.stdout.write(
      `${name}: ${((user + system) / 1_000 / count).toFixed(2)} ms of processor time a step; stored for it: ${stored.join(", ")}\n`
    )
    return result
  })

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
  const done = new Steps()
  const broker = timed(done).pipe(
    Layer.provide(JetStreamBroker.layer),
    Layer.provideMerge(ActorConfig.layer({ prefix }))
  )
  const system = actorLayer(stepper).pipe(Layer.provideMerge(Messenger.layer), Layer.provideMerge(broker))

  yield* ensureStreams(prefix, { storageBytes: 512 * 1024 ** 2 })
  const raw = figuresOf(yield* rawAppends)
  const steps = yield* Effect.gen(function* () {
    const messenger = yield* Messenger
    const step = (key: Key) => messenger.send(toStepper(key).Step({ count: 1 }))

    const chain = Effect.gen(function* () {
      for (let n = 0; n < warmUp + rounds; n++) {
        yield* step("one")
        yield* done.done(n + 1)
      }
    })
    yield* priced("one after the other", warmUp + rounds, chain)
    const alone = figuresOf(done.times.slice(warmUp))

    const before = done.times.length
    const many = Effect.gen(function* () {
      const started = performance.now()
      yield* Effect.forEach(
        Array.from({ length: parallelSteps }, (_, n) => n),
        (n) => step(`key-${n % parallelKeys}`),
        { concurrency: 64, discard: true }
      )
      yield* done.done(before + parallelSteps)
      return (parallelSteps * 1_000) / (performance.now() - started)
    })
    return { alone, perSecond: yield* priced("side by side", parallelSteps, many) }
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
