/** The broker on NATS JetStream. The streams exist already: `ensureStreams` of @reprise/nats makes them. */
import { Nats } from "@reprise/nats"
import { subjects as subjectsOf } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { ActorConfig } from "../ActorConfig.ts"
import { Broker } from "../broker/Broker.ts"
import { makeBucket } from "./buckets.ts"
import type { Connection } from "./Connection.ts"
import { makeConsume } from "./consume.ts"
import { makeFollow } from "./follow.ts"
import { makeLargeBodies } from "./largeBodies.ts"
import { makeQueries } from "./queries.ts"
import { makeSettled } from "./settled.ts"
import { makeStore } from "./store.ts"
import { makeTranscripts } from "./transcripts.ts"

const make = Effect.gen(function* () {
  const nats = yield* Nats
  const { prefix } = yield* ActorConfig
  const subjects = subjectsOf(prefix)
  const connection: Connection = { nats, nc: nats.nc, js: nats.js, jsm: nats.jsm, subjects }
  const bodies = yield* makeLargeBodies(connection)
  return Broker.of({
    ...makeStore(connection, bodies),
    ...makeConsume(connection, bodies),
    ...makeQueries(connection, bodies),
    follow: makeFollow(connection, bodies),
    snapshots: yield* makeBucket(connection, bodies, subjects.buckets.snapshots),
    views: yield* makeBucket(connection, bodies, subjects.buckets.views),
    transcripts: yield* makeTranscripts(connection),
    settled: makeSettled(connection)
  })
})

export const JetStreamBroker = {
  layer: Layer.effect(Broker, make)
}
