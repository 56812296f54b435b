/** Creates or updates the streams of a tenant. */
import type { StreamConfig, StreamInfo } from "@nats-io/jetstream"
import { Kvm } from "@nats-io/kv"
import { Objm } from "@nats-io/obj"
import { Effect, Option, Schema } from "effect"
import { attempt, type BrokerError, JetStreamRefused, jetStreamCode, untilAnswered } from "./BrokerError.ts"
import { type Difference, differences } from "./compareConfig.ts"
import { Nats, type NatsShape } from "./Nats.ts"
import {
  type Ages,
  checkPrefix,
  defaultAges,
  defaultStorageBytes,
  type InvalidPrefix,
  type StreamDefinition,
  shareOf,
  smallestStorageBytes,
  streamDefinitions
} from "./streams.ts"

export interface EnsureStreamsOptions {
  /** The storage of all streams of this prefix together, per replica. Default: 4 GiB, or less if the account has less. */
  readonly storageBytes?: number
  /** Whether existing streams get new quotas from `storageBytes`. Default: they keep theirs. */
  readonly resize?: boolean
  /** Copies of every stream; a cluster wants 3. Default: existing streams keep theirs, and new ones get one. */
  readonly replicas?: number
  readonly ages?: Partial<Ages>
}

export interface EnsuredStream {
  readonly name: string
  readonly outcome: "created" | "updated" | "unchanged"
  readonly maxBytes: number
}

/** A stream has a setting that cannot be changed, or that the server did not accept. */
export class StreamMismatch extends Schema.TaggedError<StreamMismatch>()("StreamMismatch", {
  stream: Schema.String,
  field: Schema.String,
  wanted: Schema.String,
  found: Schema.String
}) {
  override get message() {
    return `The stream ${this.stream} has ${this.field} ${this.found}, but Reprise needs ${this.wanted}. Use another prefix, or move that stream away with the 'nats' tool.`
  }
}

export class StreamRefused extends Schema.TaggedError<StreamRefused>()("StreamRefused", {
  stream: Schema.String,
  code: Schema.Int,
  reason: Schema.String,
  hint: Schema.String
}) {
  override get message() {
    return `The broker did not accept the stream ${this.stream}: ${this.reason} (error ${this.code}). ${this.hint}`
  }
}

export class StorageTooSmall extends Schema.TaggedError<StorageTooSmall>()("StorageTooSmall", {
  availableBytes: Schema.Finite,
  neededBytes: Schema.Finite
}) {
  override get message() {
    return `The broker's account has ${this.availableBytes} bytes of storage left, Reprise needs ${this.neededBytes}. Raise the account's limit, or remove other streams from it.`
  }
}

export type EnsureStreamsError = InvalidPrefix | StorageTooSmall | StreamMismatch | StreamRefused | BrokerError

const hints: ReadonlyMap<number, string> = new Map([
  [jetStreamCode.storageExceeded, "Give JetStream more space (max_file_store), or configure less storage for Reprise."],
  [jetStreamCode.accountResourcesExceeded, "Raise the account's storage limit, or configure less storage for Reprise."],
  [jetStreamCode.subjectsOverlap, "Another stream already covers these subjects: use another prefix."],
  [jetStreamCode.streamNameInUse, "Another stream has this name: use another prefix."],
  [jetStreamCode.replicasNotSupported, "This server is not part of a cluster: configure one replica."],
  [
    jetStreamCode.noSuitablePeers,
    "A cluster that has just started may not know all of its servers yet. If that lasts, restart its servers one after another. With fewer servers than copies, set nats.replicas to their number."
  ],
  [jetStreamCode.maximumStreams, "Raise the account's limit of streams; Reprise uses nine."]
])

/** Adds the next step that fits the error code of a refusal. */
const explain =
  (definition: StreamDefinition) =>
  (error: BrokerError | StreamMismatch): BrokerError | StreamMismatch | StreamRefused =>
    error instanceof JetStreamRefused
      ? new StreamRefused({
          stream: definition.stream,
          code: error.code,
          reason: error.reason,
          hint: hints.get(error.code) ?? "Run 'reprise doctor'."
        })
      : error

/** The storage for new streams: of a limited account, what other streams have not reserved. */
const chooseStorage = Effect.fnUntraced(function* (nats: NatsShape, ours: ReadonlySet<string>, replicas: number) {
  const account = yield* attempt("read the account's limits", () => nats.jsm.getAccountInfo())
  const tier = account.tiers?.[`R${replicas}`]
  const limit = (tier ?? account).limits.max_storage
  if (limit <= 0) return defaultStorageBytes
  let othersReserve = 0
  yield* attempt("list streams", async () => {
    for await (const { config } of nats.jsm.streams.list()) {
      if (!ours.has(config.name)) othersReserve += Math.max(0, config.max_bytes) * config.num_replicas
    }
  })
  // A tier counts one copy; an account without tiers counts every replica.
  const available = Math.floor((limit - othersReserve) / (tier === undefined ? replicas : 1))
  if (available < smallestStorageBytes) {
    return yield* new StorageTooSmall({ availableBytes: available, neededBytes: smallestStorageBytes })
  }
  return Math.min(defaultStorageBytes, available)
})

export const findStream = (nats: NatsShape, stream: string) =>
  attempt(`read stream ${stream}`, () => nats.jsm.streams.info(stream)).pipe(
    Effect.map(Option.some<StreamInfo>),
    Effect.catchIf(
      (error) => error instanceof JetStreamRefused && error.code === jetStreamCode.streamNotFound,
      () => Effect.succeedNone
    )
  )

const create = (nats: NatsShape, definition: StreamDefinition, config: Partial<StreamConfig>) => {
  const limits = { max_bytes: config.max_bytes ?? -1, replicas: config.num_replicas ?? 1 }
  return attempt(`create ${definition.stream}`, async () => {
    switch (definition.kind) {
      case "bucket":
        return void (await new Kvm(nats.js).create(definition.name, { ...limits, history: 1 }))
      case "objects":
        return void (await new Objm(nats.js).create(definition.name, { ...limits, storage: "file" }))
      case "stream":
        return void (await nats.jsm.streams.add({ ...config, name: definition.stream }))
    }
  })
}

const mismatch = (stream: string, difference: Difference) => new StreamMismatch({ stream, ...difference })

/** Settings that JetStream cannot change, and subjects that would make the stream another tenant's. */
const unchangeable = (prefix: string, found: StreamInfo) => (difference: Difference) => {
  if (difference.field !== "subjects") return ["retention", "storage"].includes(difference.field)
  // Two prefixes that differ only in case share stream names; one must not take over the other's stream.
  return !found.config.subjects.every((subject) => subject.startsWith(`${prefix}.`))
}

const ensureStream = Effect.fnUntraced(function* (
  nats: NatsShape,
  prefix: string,
  definition: StreamDefinition,
  settings: { readonly maxBytes: number; readonly resize: boolean; readonly replicas: number | undefined }
) {
  const existing = yield* findStream(nats, definition.stream)
  const kept = Option.filter(existing, ({ config }) => !settings.resize && config.max_bytes > 0)
  const maxBytes = Option.match(kept, { onNone: () => settings.maxBytes, onSome: (info) => info.config.max_bytes })
  const present = Option.getOrUndefined(existing)?.config.num_replicas
  const wanted = { ...definition.config, max_bytes: maxBytes, num_replicas: settings.replicas ?? present ?? 1 }

  if (Option.isSome(existing)) {
    const found = differences(wanted, existing.value.config)
    if (found.length === 0) return { name: definition.stream, outcome: "unchanged", maxBytes } satisfies EnsuredStream
    const fixed = found.find(unchangeable(prefix, existing.value))
    if (fixed !== undefined) return yield* mismatch(definition.stream, fixed)
    yield* attempt(`update ${definition.stream}`, () => nats.jsm.streams.update(definition.stream, wanted))
  } else {
    yield* create(nats, definition, wanted)
  }

  // Servers silently ignore settings that they do not know, so the stored settings are checked.
  const stored = yield* attempt(`read ${definition.stream}`, () => nats.jsm.streams.info(definition.stream))
  const [refused] = differences(wanted, stored.config)
  if (refused !== undefined) return yield* mismatch(definition.stream, refused)
  return {
    name: definition.stream,
    outcome: Option.isSome(existing) ? "updated" : "created",
    maxBytes
  } satisfies EnsuredStream
})

/**
 * Creates every stream, bucket and object store of `prefix`, or updates it to the settings of the protocol. Idempotent,
 * and safe when several services do it at once. Existing streams keep their quotas unless `resize` is set. Fails with
 * `StreamMismatch`, which names the field, when an existing stream cannot be given the wanted settings.
 *
 * @example ensureStreams("reprise", { storageBytes: 1024 ** 3 })
 */
export const ensureStreams = Effect.fn("ensureStreams")(function* (prefix: string, options: EnsureStreamsOptions = {}) {
  yield* Effect.fromResult(checkPrefix(prefix))
  const nats = yield* Nats
  const definitions = streamDefinitions(prefix, { ...defaultAges, ...options.ages })
  const ours = new Set(definitions.map(({ stream }) => stream))
  const storageBytes = options.storageBytes ?? (yield* untilAnswered(chooseStorage(nats, ours, options.replicas ?? 1)))
  return yield* Effect.forEach(
    definitions,
    (definition) =>
      ensureStream(nats, prefix, definition, {
        maxBytes: shareOf(storageBytes, definition),
        resize: options.resize ?? false,
        replicas: options.replicas
      }).pipe(untilAnswered, Effect.mapError(explain(definition))),
    { concurrency: 4 }
  )
})
