/**
 * Lists of a bucket. A long list is kept in memory until it is asked for again: then only what changed since is read, since
 * ten thousand values take the broker and this process longer than whoever asks would wait.
 */
import type { JsMsg } from "@nats-io/jetstream"
import { Effect } from "effect"
import type { BucketEntry } from "../broker/Broker.ts"
import type { BrokerFault } from "../broker/faults.ts"
import { type Connection, fault } from "./Connection.ts"
import { type Kept, scan, withKept } from "./scan.ts"

/** Lists up to this long are read again each time. */
const shortList = 500

interface KeptEntry {
  readonly sequence: number
  /** Undefined: the marker of a removal, which the bucket keeps for a moment. */
  readonly entry: BucketEntry | undefined
}

interface KeptList {
  /** Of which connection to which server: one that was killed may have forgotten what came last, and count again. */
  readonly of: string
  readonly entries: Map<string, KeptEntry>
  newest: number
}

type Read = (message: JsMsg) => Effect.Effect<BucketEntry | undefined, BrokerFault>

const add = Effect.fnUntraced(function* (list: KeptList, messages: ReadonlyArray<JsMsg>, read: Read) {
  for (const message of messages) {
    const { seq: sequence, subject } = message
    const entry = yield* read(message)
    if (sequence > (list.entries.get(subject)?.sequence ?? 0)) {
      // What changed last is last, as in the stream.
      list.entries.delete(subject)
      list.entries.set(subject, { sequence, entry })
    }
    list.newest = Math.max(list.newest, sequence)
  }
})

const shown = ({ entries }: KeptList): ReadonlyArray<BucketEntry> =>
  [...entries.values()].flatMap(({ entry }) => (entry === undefined ? [] : [entry]))

/** Reads lists of one bucket's stream: every value of subjects that match `filter`, by `read`. */
export const makeReadLists = (connection: Connection, stream: string, read: Read) => {
  const lists = new Map<string, KeptList>()

  /**
   * The kept list with what came since. Undefined when something was removed, which no message tells: then the list has
   * another length than what is stored.
   */
  const continued = Effect.fnUntraced(function* (operation: string, filter: string, list: KeptList, count: number) {
    yield* add(list, yield* scan(connection, operation, { stream, filter, from: list.newest + 1 }), read)
    return list.entries.size === count ? list : undefined
  })

  const listOf = Effect.fnUntraced(function* (operation: string, filter: string, { count, read: readAll }: Kept) {
    const { client_id = 0, server_id = "" } = connection.nc.info ?? {}
    const of = `${server_id} ${client_id}`
    const known = count > shortList ? lists.get(filter) : undefined
    if (known?.of === of) {
      const list = yield* continued(operation, filter, known, count)
      if (list !== undefined) return list
    }
    const list: KeptList = { of, entries: new Map(), newest: 0 }
    yield* add(list, yield* readAll, read)
    if (list.entries.size > shortList) lists.set(filter, list)
    else lists.delete(filter)
    return list
  })

  return (operation: string, filter: string): Effect.Effect<ReadonlyArray<BucketEntry>, BrokerFault> =>
    withKept(connection, operation, { stream, filter }, (kept) => listOf(operation, filter, kept)).pipe(
      Effect.map(shown),
      Effect.mapError((error) => (error._tag === "BrokerFault" ? error : fault(operation)(error)))
    )
}
