/** The broker on NATS JetStream. */
import { Nats } from "@reprise/nats"
import { subjects as subjectsOf } from "@reprise/protocol"
import { Deferred, Effect, Layer } from "effect"
import { ActorConfig } from "../ActorConfig.ts"
import { Broker, type BrokerShape } from "../broker/Broker.ts"
import { BrokerFull } from "../broker/faults.ts"
import { makeAnnouncements } from "./announcements.ts"
import { makeBucket } from "./buckets.ts"
import type { Connection } from "./Connection.ts"
import { makeConsume, makePull } from "./consume.ts"
import { makeConsumers } from "./consumers.ts"
import { makeFollow } from "./follow.ts"
import { makeLag } from "./lag.ts"
import { makeLargeBodies } from "./largeBodies.ts"
import { makeQueries } from "./queries.ts"
import { makeRead } from "./read.ts"
import { makeDecided, makeSettled } from "./settled.ts"
import { makeStore } from "./store.ts"
import { makeTranscripts } from "./transcripts.ts"

/** What stores, with `full` as soon as something could not be stored. */
const noticingFull = Effect.fnUntraced(function* (broker: Omit<BrokerShape, "full">) {
  const full = yield* Deferred.make<BrokerFull>()
  const noted = <A, E, R>(storing: Effect.Effect<A, E, R>) =>
    Effect.tapError(storing, (error) => (error instanceof BrokerFull ? Deferred.succeed(full, error) : Effect.void))
  const { append, publish, snapshots, transcripts, views } = broker
  return Broker.of({
    ...broker,
    append: (message, expected) => noted(append(message, expected)),
    publish: (messages) => noted(publish(messages)),
    snapshots: { ...snapshots, put: (...entry) => noted(snapshots.put(...entry)) },
    views: { ...views, put: (...entry) => noted(views.put(...entry)) },
    transcripts: { ...transcripts, put: (name, text) => noted(transcripts.put(name, text)) },
    full: Deferred.await(full)
  })
})

const make = Effect.gen(function* () {
  const nats = yield* Nats
  const { prefix } = yield* ActorConfig
  const subjects = subjectsOf(prefix)
  const connection: Connection = { nats, nc: nats.nc, js: nats.js, jsm: nats.jsm, subjects }
  const bodies = yield* makeLargeBodies(connection)
  const consumers = makeConsumers(connection)
  const reading = makeRead(connection, bodies)
  return yield* noticingFull({
    ...reading,
    ...makeStore(connection, bodies, reading.next),
    ...makeQueries(connection, bodies),
    ...makeAnnouncements(connection),
    consume: makeConsume(consumers, bodies),
    pull: makePull(consumers, bodies),
    lag: makeLag(connection),
    follow: makeFollow(connection, bodies),
    snapshots: yield* makeBucket(connection, bodies, subjects.buckets.snapshots),
    views: yield* makeBucket(connection, bodies, subjects.buckets.views),
    transcripts: yield* makeTranscripts(connection),
    settled: makeSettled(connection),
    decided: makeDecided(connection)
  })
})

/**
 * The broker of everything but unit tests. The streams and buckets must exist: `ensureStreams` of `@reprise/nats` makes
 * them. A lost connection comes back by itself, and consumers and readers of events go on where they were.
 *
 * @example
 * const broker = JetStreamBroker.layer.pipe(Layer.provide(Nats.layer({ url, name: "gate" })))
 */
export const JetStreamBroker = {
  layer: Layer.effect(Broker, make)
}
