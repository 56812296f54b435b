/** What the broker in memory has beside its streams: buckets, transcripts, query handlers and announcements. */
import { Effect, PubSub, Stream } from "effect"
import type { BrokerShape, Bucket, QueryHandler, Transcripts } from "../broker/Broker.ts"
import { Conflict } from "../broker/faults.ts"
import { subjectMatcher } from "./MemoryStream.ts"

export const makeMemoryBucket = (): Bucket => {
  const entries = new Map<string, { readonly value: string; readonly revision: number }>()
  let revision = 0
  return {
    get: (key) => Effect.sync(() => entries.get(key)),
    put: (key, value, expected) =>
      Effect.suspend(() => {
        const found = entries.get(key)?.revision ?? 0
        if (expected !== undefined && expected !== found) return new Conflict({ subject: key, expected })
        revision += 1
        entries.set(key, { value, revision })
        return Effect.succeed(revision)
      }),
    remove: (key) => Effect.sync(() => void entries.delete(key)),
    list: (prefix) =>
      Effect.sync(() =>
        [...entries].flatMap(([key, { value }]) => (key.startsWith(`${prefix}.`) ? [{ key, value }] : []))
      )
  }
}

export const makeMemoryTranscripts = (): Transcripts => {
  const texts = new Map<string, string>()
  return {
    put: (name, text) => Effect.sync(() => void texts.set(name, text)),
    get: (name) => Effect.sync(() => texts.get(name)),
    list: (prefix) => Effect.sync(() => [...texts.keys()].filter((name) => name.startsWith(prefix))),
    remove: (name) => Effect.sync(() => void texts.delete(name))
  }
}

export const makeMemoryQueries = (): Pick<BrokerShape, "serve" | "request"> => {
  const handlers: Array<{ readonly subject: string; readonly answer: QueryHandler }> = []
  return {
    serve: Effect.fnUntraced(function* (_name, served) {
      const added = Object.entries(served).map(([subject, answer]) => ({ subject, answer }))
      handlers.push(...added)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const one of added) handlers.splice(handlers.indexOf(one), 1)
        })
      )
    }),
    request: (subject, request) =>
      Effect.suspend((): Effect.Effect<string | undefined> => {
        const handler = handlers.find((one) => one.subject === subject)
        return handler === undefined ? Effect.succeed(undefined) : handler.answer(request)
      })
  }
}

export const makeMemoryAnnouncements = Effect.map(
  PubSub.unbounded<{ readonly subject: string; readonly body: string }>(),
  (hub): Pick<BrokerShape, "announce" | "hear"> => ({
    announce: (subject, body) => Effect.asVoid(PubSub.publish(hub, { subject, body })),
    hear: (pattern) => {
      const matches = subjectMatcher([pattern])
      return Stream.filter(Stream.fromPubSub(hub), ({ subject }) => matches(subject))
    }
  })
)
