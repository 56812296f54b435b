/** The broker in memory: the same contract as the real one, without a server. */
import { Clock, Effect, Layer, type Scope, Stream } from "effect"
import {
  Broker,
  type BrokerShape,
  type ConsumerSpec,
  type Message,
  type StoredMessage,
  type StreamKind,
  streamOf
} from "../broker/Broker.ts"
import { BrokerFault, Conflict } from "../broker/faults.ts"
import { type MemoryConsumer, makeMemoryConsumer } from "./MemoryConsumer.ts"
import { makeMemoryAnnouncements, makeMemoryBucket, makeMemoryQueries, makeMemoryTranscripts } from "./MemoryStores.ts"
import { type MemoryStream, makeMemoryStream, subjectMatcher } from "./MemoryStream.ts"

type Streams = Readonly<Record<StreamKind, MemoryStream>>

const makeStreams = (nowMs: () => number): Streams => ({
  commands: makeMemoryStream(nowMs),
  work: makeMemoryStream(nowMs),
  events: makeMemoryStream(nowMs),
  journal: makeMemoryStream(nowMs),
  timers: makeMemoryStream(nowMs),
  dead: makeMemoryStream(nowMs)
})

const makeStore = (
  streams: Streams
): Pick<BrokerShape, "append" | "last" | "next" | "read" | "purge" | "remove" | "publish"> => {
  const store = (messages: ReadonlyArray<Message>) => {
    for (const message of messages) {
      const kind = streamOf(message.subject)
      if (kind === undefined) {
        return new BrokerFault({ operation: `store ${message.subject}`, cause: "no stream keeps this subject" })
      }
      streams[kind].store(message)
    }
    return Effect.void
  }
  return {
    append: (message, expected) =>
      Effect.suspend(() => {
        const last = streams.journal.last(message.subject)
        if (last?.header("ce-id") === message.meta.id) return Effect.succeed(last.sequence)
        if ((last?.sequence ?? 0) !== expected) return new Conflict({ subject: message.subject, expected })
        return Effect.succeed(streams.journal.store(message))
      }),
    last: (kind, subject) => Effect.sync(() => streams[kind].last(subject)),
    next: (kind, subject, after) => Effect.sync(() => streams[kind].matching(subject, after)[0]),
    read: (kind, subject, after) => Effect.sync(() => streams[kind].matching(subject, after)),
    purge: (kind, subject) => Effect.sync(() => streams[kind].purge(subject)),
    remove: (kind, sequence) => Effect.sync(() => streams[kind].remove(sequence)),
    publish: (messages) => Effect.suspend(() => store(messages))
  }
}

type Consuming = Pick<BrokerShape, "consume" | "pull" | "lag" | "settled" | "decided">

/** Consumers live as long as the broker, by name, like those of a server. */
const makeConsuming = Effect.fnUntraced(function* (streams: Streams) {
  const own = yield* Effect.context<Scope.Scope>()
  const consumers = new Map<string, { readonly stream: ConsumerSpec["stream"]; readonly consumer: MemoryConsumer }>()
  const listeners = new Set<() => void>()
  const settling = {
    isAwaited: () => listeners.size > 0,
    onChange: () => {
      for (const listener of listeners) listener()
    }
  }

  const consumerOf = Effect.fnUntraced(function* (spec: ConsumerSpec) {
    const known = consumers.get(spec.durable)
    if (known !== undefined) return known.consumer
    const consumer = yield* makeMemoryConsumer(streams[spec.stream], spec, settling).pipe(Effect.provideContext(own))
    consumers.set(spec.durable, { stream: spec.stream, consumer })
    return consumer
  })

  const areIdle = (...except: ReadonlyArray<ConsumerSpec["stream"]>) =>
    [...consumers.values()].every(({ consumer, stream }) => except.includes(stream) || consumer.isIdle())

  return {
    consume: Effect.fnUntraced(function* (spec, take) {
      const consumer = yield* consumerOf(spec)
      const remove = consumer.add((delivery) => {
        take(delivery)
        return true
      })
      yield* Effect.addFinalizer(() => Effect.sync(remove))
    }),
    pull: Effect.fnUntraced(function* (specs, room, take) {
      const consumers = yield* Effect.forEach(specs, consumerOf)
      const removals = consumers.map((consumer, n) =>
        consumer.add((delivery) => {
          const spec = specs[n]
          if (spec === undefined || room(spec) === 0) return false
          take(delivery)
          return true
        })
      )
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const remove of removals) remove()
        })
      )
      return () => {
        for (const consumer of consumers) consumer.offerAgain()
      }
    }),
    lag: ({ durable }) => Effect.sync(() => consumers.get(durable)?.consumer.lag()),
    settled: Effect.callback<void>((resume) => {
      const check = () => {
        if (!areIdle("timers")) return
        listeners.delete(check)
        resume(Effect.void)
      }
      listeners.add(check)
      check()
      return Effect.sync(() => listeners.delete(check))
    }),
    decided: Effect.sync(() => areIdle("timers", "work"))
  } satisfies Consuming
})

/** The messages of a stream that match, after a sequence: those that are stored, then those to come. */
const followFrom = (stream: MemoryStream, patterns: ReadonlyArray<string>, after: number) => {
  let position = after
  const matches = subjectMatcher(patterns)
  const next = Effect.callback<readonly [StoredMessage, ...ReadonlyArray<StoredMessage>]>((resume) => {
    const check = () => {
      const found = stream.after(position)
      position += found.length
      const [first, ...others] = found.filter(({ subject }) => matches(subject))
      if (first === undefined) return false
      resume(Effect.succeed([first, ...others]))
      return true
    }
    if (check()) return
    const stop = stream.onStored(() => {
      if (check()) stop()
    })
    return Effect.sync(stop)
  })
  return Stream.flattenArray(Stream.fromEffectRepeat(next))
}

const makeFollow =
  ({ events }: Streams): BrokerShape["follow"] =>
  (patterns, from) =>
    Stream.suspend(() => {
      if (from === "beginning") return followFrom(events, patterns, 0)
      if (from === "now") return followFrom(events, patterns, events.lastSequence())
      if ("sequence" in from) return followFrom(events, patterns, Math.max(0, from.sequence - 1))
      const { since } = from
      return followFrom(events, patterns, 0).pipe(Stream.filter(({ header }) => header("ce-time") >= since))
    })

const make = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const streams = makeStreams(() => clock.currentTimeMillisUnsafe())
  return Broker.of({
    ...makeStore(streams),
    ...(yield* makeConsuming(streams)),
    ...makeMemoryQueries(),
    ...(yield* makeMemoryAnnouncements),
    follow: makeFollow(streams),
    snapshots: makeMemoryBucket(),
    views: makeMemoryBucket(),
    transcripts: makeMemoryTranscripts(),
    full: Effect.never
  })
})

/**
 * The broker for tests without a server. Processes that share the layer share the broker, and it ends with the layer's
 * scope. Redelivery and delays use the clock and the scheduler of whoever builds the layer, not those of its clients:
 * virtual time works, and a client that dies takes nothing of the broker with it.
 *
 * @example
 * const system = Messenger.layer.pipe(Layer.provideMerge(MemoryBroker.layer), Layer.provideMerge(ActorConfig.layer()))
 */
export const MemoryBroker = {
  layer: Layer.effect(Broker, make)
}
