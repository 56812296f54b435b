/** Key-value buckets, with values of any size. */
import type { JsMsg } from "@nats-io/jetstream"
import { type KV, Kvm } from "@nats-io/kv"
import { attempt, untilAnswered } from "@reprise/nats"
import { Effect } from "effect"
import type { Bucket } from "../broker/Broker.ts"
import { Conflict } from "../broker/faults.ts"
import { type Connection, fault, faultOf, openOnce } from "./Connection.ts"
import { decodeText, isLarge, type LargeBodies } from "./largeBodies.ts"
import { makeReadLists } from "./readLists.ts"

/** What a reference to a large value begins with. Values are JSON, which never begins like this. */
const referenceMark = "@object:"

export const makeBucket = Effect.fnUntraced(function* (connection: Connection, bodies: LargeBodies, name: string) {
  const { js, jsm } = connection
  const open = yield* openOnce(`open ${name}`, (): Promise<KV> => new Kvm(js).open(name, { allow_direct: true }))

  const resolve = (value: Uint8Array) => {
    const text = decodeText(value)
    if (!text.startsWith(referenceMark)) return Effect.succeed(text)
    const object = text.slice(referenceMark.length)
    // A value that is lost is as one that nobody can read: whoever wrote it writes it again.
    return Effect.catchTag(bodies.get(object), "BodyLost", () => Effect.succeed(""))
  }

  /** The key's value or the marker of its removal; null: neither. */
  const entryOf = (key: string) => {
    const operation = `read ${name} ${key}`
    return open.pipe(
      Effect.flatMap((bucket) => untilAnswered(attempt(operation, () => bucket.get(key)))),
      Effect.mapError(fault(operation))
    )
  }

  const get = Effect.fnUntraced(function* (key: string) {
    const entry = yield* entryOf(key)
    if (entry === null || entry.operation !== "PUT") return undefined
    return { value: yield* resolve(entry.value), revision: entry.revision }
  })

  /** What the bucket keeps: the value, or a reference to the object with it. */
  const storedForm = Effect.fnUntraced(function* (key: string, value: string) {
    if (!isLarge(value)) return value
    const object = `value/${name}/${key}`
    yield* bodies.put(object, value)
    return `${referenceMark}${object}`
  })

  const putAt = Effect.fnUntraced(function* (key: string, stored: string, expected?: number) {
    const operation = `write ${name} ${key}`
    return yield* open.pipe(
      Effect.flatMap((bucket) =>
        attempt(operation, () => bucket.put(key, stored, expected === undefined ? {} : { previousSeq: expected }))
      ),
      Effect.mapError((error) =>
        error._tag === "WrongSequence"
          ? new Conflict({ subject: `${name} ${key}`, expected: expected ?? 0 })
          : faultOf(operation)(error)
      )
    )
  })

  /** The first value of a key may have to replace the marker of its removal. */
  const put = Effect.fnUntraced(function* (key: string, value: string, expected?: number) {
    const stored = yield* storedForm(key, value)
    return yield* putAt(key, stored, expected).pipe(
      Effect.catchTag("Conflict", (conflict) =>
        Effect.flatMap(expected === 0 ? entryOf(key) : Effect.succeed(null), (entry) =>
          entry === null || entry.operation === "PUT" ? Effect.fail(conflict) : putAt(key, stored, entry.revision)
        )
      )
    )
  })

  /**
   * Purges the key's subject, since markers would stay forever. A server that is killed within minutes may have forgotten
   * the purge, or what the last message replaced (measured with 2.10.27): so both of the last two are markers.
   */
  const remove = Effect.fnUntraced(function* (key: string) {
    const operation = `remove ${name} ${key}`
    const entry = yield* entryOf(key)
    if (entry === null) return
    const bucket = yield* Effect.mapError(open, fault(operation))
    const mark = attempt(operation, () => bucket.delete(key))
    const purge = attempt(operation, () => jsm.streams.purge(`KV_${name}`, { filter: `$KV.${name}.${key}` }))
    yield* untilAnswered(mark).pipe(
      Effect.andThen(untilAnswered(mark)),
      Effect.andThen(untilAnswered(purge)),
      Effect.mapError(fault(operation))
    )
    const text = decodeText(entry.value)
    if (text.startsWith(referenceMark)) yield* bodies.remove(text.slice(referenceMark.length))
  })

  const start = `$KV.${name}.`
  /** A key that the client has deleted has a marker as its value. */
  const readEntry = ({ data, headers, subject }: JsMsg) =>
    headers?.has("KV-Operation") === true
      ? Effect.succeed(undefined)
      : Effect.map(resolve(data), (value) => ({ key: subject.slice(start.length), value }))
  const readList = makeReadLists(connection, `KV_${name}`, readEntry)
  const list = (prefix: string) => readList(`list ${name} ${prefix}`, `${start}${prefix}.>`)

  return { get, put, remove, list } satisfies Bucket
})
