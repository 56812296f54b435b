/** A server's statistics (`varz`), over the system account or over HTTP. */
import type { NatsConnection } from "@nats-io/transport-node"
import { Effect, Schema } from "effect"
import { attempt, ClientFault } from "./BrokerError.ts"

const JetStreamVarz = Schema.Struct({
  config: Schema.optionalKey(
    Schema.Struct({
      max_storage: Schema.optionalKey(Schema.Finite),
      store_dir: Schema.optionalKey(Schema.String),
      /** Nanoseconds. */
      sync_interval: Schema.optionalKey(Schema.Finite),
      sync_always: Schema.optionalKey(Schema.Boolean)
    })
  )
})

export const ServerStatistics = Schema.Struct({
  server_name: Schema.optionalKey(Schema.String),
  version: Schema.String,
  uptime: Schema.optionalKey(Schema.String),
  /** Bytes of memory. */
  mem: Schema.optionalKey(Schema.Finite),
  connections: Schema.optionalKey(Schema.Int),
  slow_consumers: Schema.optionalKey(Schema.Int),
  jetstream: Schema.optionalKey(JetStreamVarz)
})
export type ServerStatistics = typeof ServerStatistics.Type

const decodeReply = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ data: ServerStatistics })))
const decodePage = Schema.decodeUnknownEffect(Schema.fromJsonString(ServerStatistics))

const unreadable = (cause: unknown) => new ClientFault({ operation: "read the server's statistics", cause })

/** Needs a connection of the system account. In a cluster, the first server that answers. */
export const statisticsOverSystem = Effect.fn("statisticsOverSystem")(function* (nc: NatsConnection) {
  const reply = yield* attempt("ask for the server's statistics", () =>
    nc.request("$SYS.REQ.SERVER.PING.VARZ", "", { timeout: 2_000 })
  )
  const { data } = yield* decodeReply(reply.string()).pipe(Effect.mapError(unreadable))
  return data
})

/** From the server's monitoring port, for example `http://127.0.0.1:8222`. */
export const statisticsOverHttp = Effect.fn("statisticsOverHttp")(function* (url: string) {
  const page = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(new URL("/varz", url), { signal })
      return response.text()
    },
    catch: unreadable
  }).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.fail(unreadable("no answer in 2 s")) }))
  return yield* decodePage(page).pipe(Effect.mapError(unreadable))
})
