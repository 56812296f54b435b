/**
 * The time of one durable step of an actor: a command is delivered, decided and journalled, its outcome is published,
 * and it is acknowledged; compared with a raw append to the same server, which writes to disk before it answers.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Actor, ActorConfig, actorLayer, Broker, JetStreamBroker, Messenger, publish } from "@reprise/actor"
import { EmbeddedServer, ensureStreams, formatVersion, layerEmbeddedConnection, publish as store } from "@reprise/nats"
import { addressing, type Key, PublicEvent, RunId, subjects } from "@reprise/protocol"
import { Effect, Layer, Result, Schema } from "effect"

const Command = Schema.TaggedUnion({ Step: { n: Schema.Int } })
const Event = Schema.TaggedUnion({ Stepped: { n: Schema.Int, at: Schema.String } })

const toStepper = addressing<Key>()({ service: "orchestrator", keyField: undefined, commands: Command })

const stepper: Actor<number, typeof Command.Type, typeof Event.Type> = {
  service: "orchestrator",
  commands: Command,
  journal: Event,
  initial: 0,
  decide: (_steps, { n }, { now }) => Result.succeed([{ _tag: "Stepped", n, at: now }]),
  evolve: (steps) => steps + 1,
  react: (steps, _events, { key }) => [
    publish(PublicEvent.cases.StepStarted.make({ runId: RunId.make(key), step: "EXECUTE", attempt: steps }))
  ],
  runOf: () => undefined,
  view: (steps) => ({ steps }),
  snapshotVersion: 1
}

const prefix = "bench"
const rounds = 1_000
const warmUp = 200
const parallelKeys = 64

interface Figures {
  readonly p50: number
  readonly p99: number
}

const figures = (times: ReadonlyArray<number>): Figures => {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

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
  const raw = figures(yield* rawAppends)
  const steps = yield* Effect.gen(function* () {
    const messenger = yield* Messenger
    const step = (key: Key, n: number) => messenger.send(toStepper(key).Step({ n }))
    const acknowledged = (count: number) => Effect.yieldNow.pipe(Effect.repeat({ until: () => times.length >= count }))

    for (let n = 0; n < warmUp + rounds; n++) {
      yield* step("one", n)
      yield* acknowledged(n + 1)
    }
    const alone = figures(times.slice(warmUp))

    const before = times.length
    const started = performance.now()
    yield* Effect.forEach(
      Array.from({ length: rounds * 2 }, (_, n) => n),
      (n) => step(`key-${n % parallelKeys}`, n),
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

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "reprise-bench-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** The server that `reprise run` starts for itself, with its configuration. */
const embedded = Layer.unwrap(
  Effect.map(directory, (path) =>
    layerEmbeddedConnection({ name: "bench" }).pipe(
      Layer.provideMerge(EmbeddedServer.layer({ directory: join(path, ".reprise") }))
    )
  )
)

export const durableStep = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(embedded)))

if (import.meta.main) await durableStep()
