/** The health of the broker, for `reprise doctor`. Reads only. */
import { Effect, Option } from "effect"
import { attempt, type BrokerError, untilAnswered } from "./BrokerError.ts"
import { type Difference, differences } from "./compareConfig.ts"
import { findStream } from "./ensureStreams.ts"
import { Nats, type NatsShape } from "./Nats.ts"
import { notGuaranteed } from "./ServerVersion.ts"
import type { ServerStatistics } from "./serverStatistics.ts"
import { type Ages, checkPrefix, defaultAges, type StreamDefinition, streamDefinitions } from "./streams.ts"

/** When the server writes to disk: before it acknowledges, or some time after; `unknown` when it would not say. */
export type SyncMode =
  | { readonly _tag: "Always" }
  | { readonly _tag: "Interval"; readonly ms: number }
  | { readonly _tag: "Unknown" }

export interface StreamHealth {
  readonly name: string
  readonly state: "ok" | "missing" | "different"
  /** Settings that differ from those of the protocol; `ensureStreams` fixes most of them. */
  readonly differences: ReadonlyArray<Difference>
  readonly messages: number
  readonly bytes: number
  readonly maxBytes: number
  readonly replicas: number
}

export interface BrokerHealth {
  readonly serverVersion: string
  readonly serverName: string
  readonly roundTripMs: number
  readonly storage: {
    readonly usedBytes: number
    readonly reservedBytes: number
    readonly limitBytes: Option.Option<number>
  }
  readonly sync: SyncMode
  readonly streams: ReadonlyArray<StreamHealth>
  /** Sentences: what this server does not promise. Empty when all is well. */
  readonly notGuaranteed: ReadonlyArray<string>
}

export interface HealthOptions {
  readonly prefix: string
  /** Reads the server's own statistics; without them the sync mode stays unknown. */
  readonly statistics?: Effect.Effect<ServerStatistics, BrokerError>
  /** Copies that every stream should have. Default: however many it has. */
  readonly replicas?: number | undefined
  readonly ages?: Partial<Ages>
}

const syncMode = (statistics: Option.Option<ServerStatistics>): SyncMode => {
  const config = Option.getOrUndefined(statistics)?.jetstream?.config
  if (config === undefined) return { _tag: "Unknown" }
  if (config.sync_always === true) return { _tag: "Always" }
  return config.sync_interval === undefined
    ? { _tag: "Unknown" }
    : { _tag: "Interval", ms: Math.round(config.sync_interval / 1e6) }
}

const syncSentences = (sync: SyncMode): ReadonlyArray<string> => {
  switch (sync._tag) {
    case "Always":
      return []
    case "Interval":
      return [
        `The server writes to disk only every ${sync.ms} ms: a power cut of all replicas can lose acknowledged messages. Set 'sync_interval: always'.`
      ]
    case "Unknown":
      return ["It is unknown whether the server writes to disk before it acknowledges: it did not report its settings."]
  }
}

const streamHealth = Effect.fnUntraced(function* (nats: NatsShape, definition: StreamDefinition, replicas?: number) {
  const found = yield* findStream(nats, definition.stream)
  const name = definition.stream
  if (Option.isNone(found)) {
    return { name, state: "missing", differences: [], messages: 0, bytes: 0, maxBytes: 0, replicas: 0 } as const
  }
  const { config, state } = found.value
  const unlike = differences({ ...definition.config, num_replicas: replicas ?? config.num_replicas }, config)
  const unbounded = config.max_bytes > 0 ? [] : [{ field: "max_bytes", wanted: "a limit", found: "none" }]
  return {
    name,
    state: unlike.length + unbounded.length === 0 ? "ok" : "different",
    differences: [...unlike, ...unbounded],
    messages: state.messages,
    bytes: state.bytes,
    maxBytes: config.max_bytes,
    replicas: config.num_replicas
  } satisfies StreamHealth
})

const orWarning = (statistics: Effect.Effect<ServerStatistics, BrokerError>) =>
  statistics.pipe(
    Effect.map(Option.some),
    Effect.catch((error) => Effect.logWarning(error.message).pipe(Effect.as(Option.none<ServerStatistics>())))
  )

/**
 * Checks the server, the account and every stream. Problems are part of the report; it fails only when the broker does
 * not answer or `prefix` is invalid. Changes nothing.
 *
 * @example const { streams } = yield* health({ prefix: "reprise" })
 */
export const health = Effect.fn("health")(function* (options: HealthOptions) {
  const prefix = yield* Effect.fromResult(checkPrefix(options.prefix))
  const nats = yield* Nats
  // A request first: it waits until the connection is up again, the round trip fails at once.
  const account = yield* attempt("read the account's limits", () => nats.jsm.getAccountInfo())
  const roundTripMs = yield* attempt("measure the round trip", () => nats.nc.rtt())
  const statistics = options.statistics === undefined ? Option.none() : yield* orWarning(options.statistics)
  const sync = syncMode(statistics)
  const version = yield* nats.serverVersion
  const streams = yield* Effect.forEach(
    streamDefinitions(prefix, { ...defaultAges, ...options.ages }),
    (definition) => streamHealth(nats, definition, options.replicas),
    { concurrency: 4 }
  )
  const lacks = Option.match(version, { onNone: () => [], onSome: notGuaranteed })
  return {
    serverVersion: nats.nc.info?.version ?? "unknown",
    serverName: nats.nc.info?.server_name ?? "unknown",
    roundTripMs,
    storage: {
      usedBytes: account.storage,
      reservedBytes: account.reserved_storage,
      limitBytes: Option.some(account.limits.max_storage).pipe(Option.filter((limit) => limit > 0))
    },
    sync,
    streams,
    notGuaranteed: [...lacks, ...(lacks.length > 0 && sync._tag === "Unknown" ? [] : syncSentences(sync))]
  } satisfies BrokerHealth
}, untilAnswered)
