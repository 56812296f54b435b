/** The streams, buckets and object stores of Reprise as data (docs/design/protocol.md#subjects-and-streams). Pure. */
import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream"
import { nanos } from "@nats-io/transport-node"
import { subjects } from "@reprise/protocol"
import { Result, Schema } from "effect"

/** `bucket` is a key-value bucket, `objects` an object store; both are streams to the server. */
export type StoreKind = "stream" | "bucket" | "objects"

export interface StreamDefinition {
  readonly kind: StoreKind
  /** The name under which clients open it. */
  readonly name: string
  /** The name of the underlying stream, which differs from `name` for buckets and object stores. */
  readonly stream: string
  /** Its percentage of the storage. */
  readonly share: number
  /** The settings that the server must have, apart from `max_bytes` and `num_replicas`. */
  readonly config: Partial<StreamConfig>
}

export class InvalidPrefix extends Schema.TaggedError<InvalidPrefix>()("InvalidPrefix", { prefix: Schema.String }) {
  override get message() {
    return `'${this.prefix.slice(0, 40)}' cannot be the prefix of subjects and streams: use 1 to 32 letters, digits, '_' or '-'.`
  }
}

export const checkPrefix = (prefix: string): Result.Result<string, InvalidPrefix> =>
  /^[A-Za-z0-9_-]{1,32}$/.test(prefix) ? Result.succeed(prefix) : Result.fail(new InvalidPrefix({ prefix }))

const day = 24 * 60 * 60 * 1000
const duplicateWindowMs = 10 * 60 * 1000
/** Bodies over 512 KiB go to the object store; the rest is left for headers. */
const maxMessageBytes = 1024 * 1024
/** JetStream's value for unlimited age. */
const forever = 0

export interface Ages {
  readonly commandsMs: number
  readonly eventsMs: number
  readonly timersMs: number
}

export const defaultAges: Ages = { commandsMs: 7 * day, eventsMs: 30 * day, timersMs: 400 * day }

/** Every stream, bucket and object store of one tenant. `prefix` must have passed `checkPrefix`. */
export const streamDefinitions = (prefix: string, ages: Ages = defaultAges): ReadonlyArray<StreamDefinition> => {
  const { buckets, streams } = subjects(prefix)
  const stream = (name: string, subject: string, maxAgeMs: number, share: number): StreamDefinition => ({
    kind: "stream",
    name,
    stream: name,
    share,
    config: {
      subjects: [`${prefix}.${subject}`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_age: nanos(maxAgeMs),
      max_msg_size: maxMessageBytes,
      duplicate_window: nanos(duplicateWindowMs),
      allow_direct: true
    }
  })
  const bucket = (name: string, share: number): StreamDefinition => ({
    kind: "bucket",
    name,
    stream: `KV_${name}`,
    share,
    config: {
      subjects: [`$KV.${name}.>`],
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_age: nanos(forever),
      max_msgs_per_subject: 1,
      allow_direct: true,
      allow_rollup_hdrs: true
    }
  })
  return [
    stream(streams.commands, "command.*.*", ages.commandsMs, 8),
    stream(streams.work, "work.*.*.*", ages.commandsMs, 6),
    stream(streams.events, "event.*.*.*", ages.eventsMs, 20),
    stream(streams.journal, "journal.*.*", forever, 24),
    stream(streams.timers, "timer.*.*", ages.timersMs, 2),
    stream(streams.dead, "dead.*.*", forever, 4),
    bucket(buckets.snapshots, 6),
    bucket(buckets.views, 5),
    {
      kind: "objects",
      name: buckets.transcripts,
      stream: `OBJ_${buckets.transcripts}`,
      share: 25,
      config: {
        subjects: [`$O.${buckets.transcripts}.C.>`, `$O.${buckets.transcripts}.M.>`],
        storage: StorageType.File,
        discard: DiscardPolicy.New,
        max_age: nanos(forever),
        allow_direct: true,
        allow_rollup_hdrs: true
      }
    }
  ]
}

/** What all streams together reserve by default: 4 GiB. */
export const defaultStorageBytes = 4 * 1024 ** 3
/** With less, some streams could not hold even a few messages of the largest size. */
export const smallestStorageBytes = 128 * 1024 ** 2

/** The quota of one stream, rounded down so that all quotas together never exceed the storage. */
export const shareOf = (storageBytes: number, definition: StreamDefinition): number =>
  Math.floor((storageBytes * definition.share) / 100)
