/** Archived conversations, each an object of its own name beside the large bodies of messages. */
import { type ObjectStore, Objm } from "@nats-io/obj"
import { attempt } from "@reprise/nats"
import { Effect } from "effect"
import type { Transcripts } from "../broker/Broker.ts"
import { type Connection, fault, faultOf, openOnce } from "./Connection.ts"
import { decodeText } from "./largeBodies.ts"

const encoder = new TextEncoder()

export const makeTranscripts = Effect.fnUntraced(function* ({ js, subjects }: Connection) {
  const open = yield* openOnce(
    "open the object store",
    (): Promise<ObjectStore> => new Objm(js).open(subjects.buckets.transcripts)
  )
  const store = <A>(operation: string, use: (store: ObjectStore) => Promise<A>) =>
    Effect.flatMap(open, (opened) => attempt(operation, () => use(opened)))

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
      return store(operation, (objects) => objects.getBlob(name)).pipe(
        Effect.map((blob) => (blob === null ? undefined : decodeText(blob))),
        Effect.mapError(fault(operation))
      )
    },
    list: (prefix) => {
      const operation = `list ${prefix}`
      return store(operation, (objects) => objects.list()).pipe(
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
