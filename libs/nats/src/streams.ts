/** The streams, buckets and object stores of Reprise as data (docs/design/protocol.md#subjects-and-streams). Pure. */
import { DiscardPolicy, RetentionPolicy, StorageType, type StreamConfig } from "@nats-io/jetstream"
import { nanos } from "@nats-io/transport-node"
import { subjects } from "@reprise/protocol"
import { Duration, Result, Schema } from "effect"

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

const duplicateWindow = Duration.minutes(10)
/** Bodies over 512 KiB go to the object store; the rest is left for headers. */
const maxMessageBytes = 1024 * 1024
/**
 * How long each stream keeps its messages. What was decided, and what nobody could handle, is kept until it is removed on
 * purpose: no age fits there.
 */
export interface Ages {
  readonly commands: Duration.Duration
  readonly work: Duration.Duration
  readonly events: Duration.Duration
  readonly journal: "forever"
  readonly timers: Duration.Duration
  readonly dead: "forever"
}

export const defaultAges: Ages = {
  commands: Duration.days(7),
  work: Duration.days(7),
  events: Duration.days(30),
  journal: "forever",
  timers: Duration.days(400),
  dead: "forever"
}

/** In nanoseconds; 0 is JetStream's value for unlimited. */
const maxAge = (age: Duration.Duration | "forever"): number => (age === "forever" ? 0 : nanos(Duration.toMillis(age)))

/** Every stream, bucket and object store of one tenant. `prefix` must have passed `checkPrefix`. */
export const streamDefinitions = (prefix: string, ages: Ages = defaultAges): ReadonlyArray<StreamDefinition> => {
  const { buckets, streams } = subjects(prefix)
  const stream = (name: keyof Ages, subject: string, share: number): StreamDefinition => ({
    kind: "stream",
    name: streams[name],
    stream: streams[name],
    share,
    config: {
      subjects: [`${prefix}.${subject}`],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_age: maxAge(ages[name]),
      max_msg_size: maxMessageBytes,
      duplicate_window: nanos(Duration.toMillis(duplicateWindow)),
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
      max_age: maxAge("forever"),
      max_msgs_per_subject: 1,
      allow_direct: true,
      allow_rollup_hdrs: true
    }
  })
  return [
    stream("commands", "command.*.*", 8),
    stream("work", "work.*.*.*", 6),
    stream("events", "event.*.*.*", 20),
    stream("journal", "journal.*.*", 24),
    stream("timers", "timer.*.*", 2),
    stream("dead", "dead.*.*", 4),
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
        max_age: maxAge("forever"),
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
