/** Waiting for what the broker sends by itself: it may be lost on the way, and nobody would send it again. */
import type { JetStreamManager } from "@nats-io/jetstream"
import type { ObjectInfo, ObjectStore } from "@nats-io/obj"
import { errors } from "@nats-io/transport-node"
import { attempt, untilAnswered } from "@reprise/nats"

/** After so long without a word, what was to come is asked for again. */
export const silenceMs = 5_000

/** What the promise gives, or a failure like that of a request without an answer. */
export const within = <A>(ms: number, promise: Promise<A>): Promise<A> => {
  const silence = Promise.withResolvers<never>()
  const timer = setTimeout(() => silence.reject(new errors.TimeoutError()), ms)
  return Promise.race([promise, silence.promise]).finally(() => clearTimeout(timer))
}

/** Whether nothing of the object is stored: when the answer to its storing is lost, the client removes the pieces alone. */
const isGutted = async (jsm: JetStreamManager, { bucket, nuid, size }: ObjectInfo): Promise<boolean> => {
  if (size === 0) return false
  return (await jsm.streams.getMessage(`OBJ_${bucket}`, { last_by_subj: `$O.${bucket}.C.${nuid}` })) === null
}

const readObject = async (jsm: JetStreamManager, store: ObjectStore, name: string): Promise<Uint8Array | undefined> => {
  const known = await store.info(name)
  if (known === null || (await isGutted(jsm, known))) return undefined
  const object = await store.get(name)
  if (object === null) return undefined
  const reader = object.data.getReader()
  const pieces: Array<Uint8Array> = []
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read())
      if (done) return Buffer.concat(pieces)
      pieces.push(value)
    }
  } finally {
    // Without it the client's consumer stays. The reader is of no more use, whatever comes of it.
    reader.cancel().catch(() => undefined)
  }
}

/**
 * The bytes of an object; undefined: there is none. The client itself would wait forever for a piece that was lost on the
 * way: when it was the last one, the heartbeats of its consumer go on.
 */
export const readWhole = (operation: string, jsm: JetStreamManager, store: ObjectStore, name: string) =>
  attempt(operation, () => readObject(jsm, store, name)).pipe(untilAnswered)
