/** The broker in memory, for tests: the same contract, without a server. Processes that share the layer share the broker. */

import { subjects as subjectsOf } from "@reprise/protocol"
import { Effect, Layer, Scope, Stream } from "effect"
import { ActorConfig } from "../ActorConfig.ts"
import {
  Broker,
  type Bucket,
  type ConsumerSpec,
  type Delivered,
  type Message,
  type QueryHandler,
  type StoredMessage,
  type StreamKind,
  type Transcripts
} from "../broker/Broker.ts"
import { BrokerFault, Conflict } from "../broker/faults.ts"
import { streamOf } from "../broker/streamOf.ts"
import { type MemoryConsumer, makeMemoryConsumer } from "./MemoryConsumer.ts"
import { makeMemoryStream, matchesSubject } from "./MemoryStream.ts"

const makeMemoryBucket = (): Bucket => {
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

const makeMemoryTranscripts = (): Transcripts => {
  const texts = new Map<string, string>()
  return {
    put: (name, text) => Effect.sync(() => void texts.set(name, text)),
    get: (name) => Effect.sync(() => texts.get(name)),
    list: (prefix) => Effect.sync(() => [...texts.keys()].filter((name) => name.startsWith(prefix))),
    remove: (name) => Effect.sync(() => void texts.delete(name))
  }
}

const make = Effect.gen(function* () {
  const { prefix } = yield* ActorConfig
  const subjects = subjectsOf(prefix)
  const scope = yield* Effect.scope
  const streams = {
    commands: makeMemoryStream(),
    work: makeMemoryStream(),
    events: makeMemoryStream(),
    journal: makeMemoryStream(),
    timers: makeMemoryStream(),
    dead: makeMemoryStream()
  } as const satisfies Record<StreamKind, unknown>
  const consumers = new Map<string, MemoryConsumer>()
  const handlers: Array<{ readonly subject: string; readonly answer: QueryHandler }> = []
  const changed = new Set<() => void>()
  const onChange = () => {
    for (const listener of changed) listener()
  }

  const consumerOf = Effect.fnUntraced(function* (spec: ConsumerSpec) {
    const known = consumers.get(spec.durable)
    if (known !== undefined) return known
    const consumer = yield* makeMemoryConsumer(streams[spec.stream], spec, onChange).pipe(Scope.provide(scope))
    consumers.set(spec.durable, consumer)
    return consumer
  })

  const isQuiet = () =>
    [...consumers].every(([durable, consumer]) => durable.startsWith("timers-") || consumer.isIdle())

  const store = (message: Message) => {
    const kind = streamOf(message.subject)
    return kind === undefined
      ? Effect.fail(new BrokerFault({ operation: `store ${message.subject}`, cause: "no stream keeps this subject" }))
      : Effect.sync(() => streams[kind].store(message))
  }

  const followed = (wanted: ReadonlyArray<string>, start: number) => {
    let position = start
    const batch = Effect.callback<ReadonlyArray<StoredMessage>>((resume) => {
      const look = () => {
        const found = streams.events.after(position)
        position += found.length
        const matching = found.filter(({ subject }) => wanted.some((pattern) => matchesSubject(pattern, subject)))
        if (matching.length === 0) return false
        resume(Effect.succeed(matching))
        return true
      }
      if (look()) return
      const stop = streams.events.onStored(() => {
        if (look()) stop()
      })
      return Effect.sync(stop)
    })
    return Stream.fromEffectRepeat(batch).pipe(Stream.flatMap((found) => Stream.fromIterable(found)))
  }

  return Broker.of({
    append: (message, expected) =>
      Effect.suspend(() => {
        const found = streams.journal.last(message.subject)
        if (found?.header("ce-id") === message.meta.id) return Effect.succeed(found.sequence)
        if ((found?.sequence ?? 0) !== expected) return new Conflict({ subject: message.subject, expected })
        return Effect.succeed(streams.journal.store(message).sequence)
      }),
    last: (kind, subject) => Effect.sync(() => streams[kind].last(subject)),
    read: (kind, subject, after, limit) =>
      Effect.sync(() =>
        streams[kind]
          .after(after)
          .filter((message) => matchesSubject(subject, message.subject))
          .slice(0, limit)
      ),
    purge: (kind, subject) => Effect.sync(() => streams[kind].purge(subject)),
    publish: (messages) => Effect.forEach(messages, store, { discard: true }),
    consume: Effect.fnUntraced(function* (spec, take) {
      const consumer = yield* consumerOf(spec)
      const remove = consumer.add((delivery) => {
        take(delivery)
        return true
      })
      yield* Effect.addFinalizer(() => Effect.sync(remove))
    }),
    pull: Effect.fnUntraced(function* (specs) {
      const open = yield* Effect.forEach(specs, consumerOf)
      return Effect.callback<Delivered>((resume) => {
        let taken = false
        const take = (delivery: Delivered) => {
          if (taken) return false
          taken = true
          stop()
          resume(Effect.succeed(delivery))
          return true
        }
        const removals = open.map((consumer) => consumer.add(take))
        const stop = () => {
          for (const remove of removals) remove()
        }
        return Effect.sync(stop)
      })
    }),
    follow: (wanted, from) =>
      Stream.suspend(() => {
        if (from === "beginning") return followed(wanted, 0)
        if (from === "now") return followed(wanted, streams.events.lastSequence())
        if ("sequence" in from) return followed(wanted, Math.max(0, from.sequence - 1))
        const { since } = from
        return followed(wanted, 0).pipe(Stream.filter((message) => message.header("ce-time") >= since))
      }),
    snapshots: makeMemoryBucket(),
    views: makeMemoryBucket(),
    transcripts: makeMemoryTranscripts(),
    serve: Effect.fnUntraced(function* (service, served) {
      const mine = Object.entries(served).map(([query, answer]) => ({ subject: subjects.api(service, query), answer }))
      handlers.push(...mine)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const one of mine) handlers.splice(handlers.indexOf(one), 1)
        })
      )
    }),
    request: (subject, request) =>
      Effect.suspend((): Effect.Effect<string | undefined> => {
        const handler = handlers.find((one) => one.subject === subject)
        return handler === undefined ? Effect.succeed(undefined) : handler.answer(request)
      }),
    settled: Effect.callback<void>((resume) => {
      const look = () => {
        if (!isQuiet()) return
        changed.delete(look)
        resume(Effect.void)
      }
      changed.add(look)
      look()
      return Effect.sync(() => changed.delete(look))
    })
  })
})

export const MemoryBroker = {
  layer: Layer.effect(Broker, make)
}
