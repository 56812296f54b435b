/** Archived conversations, each an object of its own name beside the large bodies of messages. */
import { type ObjectStore, Objm } from "@nats-io/obj"
import { attempt, untilAnswered } from "@reprise/nats"
import { Effect, Schema } from "effect"
import type { Transcripts } from "../broker/Broker.ts"
import { type Connection, fault, faultOf, openOnce } from "./Connection.ts"
import { decodeText } from "./largeBodies.ts"
import { scan } from "./scan.ts"
import { readWhole } from "./silence.ts"

/** What the object store keeps about an object. */
const Info = Schema.fromJsonString(Schema.Struct({ name: Schema.String, deleted: Schema.optionalKey(Schema.Boolean) }))
const readInfo = Schema.decodeUnknownEffect(Info)

const encoder = new TextEncoder()

export const makeTranscripts = Effect.fnUntraced(function* (connection: Connection) {
  const { js, subjects } = connection
  const bucket = subjects.buckets.transcripts
  const open = yield* openOnce("open the object store", (): Promise<ObjectStore> => new Objm(js).open(bucket))
  const store = <A>(operation: string, use: (store: ObjectStore) => Promise<A>) =>
    Effect.flatMap(open, (opened) => untilAnswered(attempt(operation, () => use(opened))))

  return {
    put: (name, text) => {
      const operation = `store ${name}`
      return store(operation, (objects) => objects.putBlob({ name }, encoder.encode(text))).pipe(
        Effect.asVoid,
        Effect.mapError(faultOf(operation))
      )
    },
    get: (name) => {
      const operation = `read ${name}`
      return Effect.flatMap(open, (objects) => readWhole(operation, connection.jsm, objects, name)).pipe(
        Effect.map((blob) => (blob === undefined ? undefined : decodeText(blob))),
        Effect.mapError(fault(operation))
      )
    },
    list: (prefix) => {
      const operation = `list ${prefix}`
      return scan(connection, operation, { stream: `OBJ_${bucket}`, filter: `$O.${bucket}.M.>` }).pipe(
        Effect.flatMap((messages) => Effect.forEach(messages, (message) => readInfo(message.string()))),
        Effect.map((all) => all.flatMap(({ deleted, name }) => (!deleted && name.startsWith(prefix) ? [name] : []))),
        Effect.mapError(fault(operation))
      )
    },
    remove: (name) => {
      const operation = `remove ${name}`
      return store(operation, async (objects) => {
        if ((await objects.info(name)) !== null) await objects.delete(name)
      }).pipe(Effect.mapError(fault(operation)))
    }
  } satisfies Transcripts
})
