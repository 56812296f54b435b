/**
 * Bodies over 512 KiB are objects, and the message carries a reference (docs/design/protocol.md#envelope). An object is
 * named after its message, so storing it again stores the same.
 */
import { type ObjectStore, Objm } from "@nats-io/obj"
import { attempt, untilAnswered } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import { BodyLost, type BrokerFault, type BrokerFull } from "../broker/faults.ts"
import { type Connection, fault, faultOf, openOnce } from "./Connection.ts"
import { readWhole } from "./silence.ts"

/** The header that names the object with the body. */
export const bodyHeader = "reprise-body"
/** What the names of such objects begin with: the object store holds other things too. */
export const bodyPrefix = "body/"
const largestBodyBytes = 512 * 1024

/** An object is stored before the message that names it, but a replica of the server may lag for a moment. */
const replicaLag = {
  while: (error: BrokerFault | BodyLost) => error._tag === "BodyLost",
  times: 3,
  schedule: Schedule.spaced("200 millis")
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes)

/** UTF-8 takes at most three bytes per character of a string, so a short one need not be counted. */
export const isLarge = (text: string): boolean =>
  text.length > largestBodyBytes || (text.length * 3 > largestBodyBytes && Buffer.byteLength(text) > largestBodyBytes)

export const fitsMessage = (bytes: Uint8Array): boolean => bytes.length <= largestBodyBytes

export interface LargeBodies {
  readonly put: (name: string, text: string) => Effect.Effect<void, BrokerFault | BrokerFull>
  readonly get: (name: string) => Effect.Effect<string, BrokerFault | BodyLost>
  readonly remove: (name: string) => Effect.Effect<void, BrokerFault>
}

export const makeLargeBodies = Effect.fnUntraced(function* ({ js, jsm, subjects }: Connection) {
  const open = yield* openOnce(
    "open the object store",
    (): Promise<ObjectStore> => new Objm(js).open(subjects.buckets.transcripts)
  )
  return {
    put: Effect.fnUntraced(function* (name, text) {
      yield* open.pipe(
        Effect.flatMap((store) =>
          untilAnswered(attempt(`store ${name}`, () => store.putBlob({ name }, encoder.encode(text))))
        ),
        Effect.mapError(faultOf(`store ${name}`))
      )
    }),
    get: Effect.fnUntraced(function* (name) {
      const operation = `read ${name}`
      const blob = yield* open.pipe(
        Effect.flatMap((store) => readWhole(operation, jsm, store, name)),
        Effect.mapError(fault(operation))
      )
      return blob === undefined ? yield* new BodyLost({ object: name }) : decodeText(blob)
    }, Effect.retry(replicaLag)),
    remove: (name) =>
      open.pipe(
        Effect.flatMap((store) => untilAnswered(attempt(`remove ${name}`, () => store.delete(name)))),
        Effect.mapError(fault(`remove ${name}`))
      )
  } satisfies LargeBodies
})
