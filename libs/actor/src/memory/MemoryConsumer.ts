/** A named consumer in memory: its position and what is delivered and not settled, shared by all who use it. */
import { Clock, Effect, FiberSet, Scheduler, type Scope } from "effect"
import type { ConsumerSpec, Delivered, Lag, StoredMessage } from "../broker/Broker.ts"
import { type MemoryStream, subjectMatcher } from "./MemoryStream.ts"

/** Takes a delivery; returns false when it wants none now. */
export type Taker = (delivery: Delivered) => boolean

export interface MemoryConsumer {
  /** Deliveries go to the takers in turn. Gives what removes the taker. */
  readonly add: (taker: Taker) => () => void
  /** A taker that wanted nothing may want something now. */
  readonly offerAgain: () => void
  /** Whether every message is settled. */
  readonly isIdle: () => boolean
  readonly lag: () => Lag
}

interface Pending {
  readonly message: StoredMessage
  deliveries: number
  /** When it is delivered again, unless something happens before. */
  returnAtMs: number
}

interface State {
  readonly stream: MemoryStream
  readonly spec: ConsumerSpec
  readonly isWanted: (subject: string) => boolean
  readonly takers: Array<Taker>
  /** Delivered and not settled, by sequence. */
  readonly pending: Map<number, Pending>
  /** Sequences to deliver again, before new messages. */
  readonly again: Array<number>
  /** Sequence of the last message that was looked at. */
  position: number
  /** Delivers the message again after the delay, in place of an earlier plan for it. */
  readonly returnAfter: (pending: Pending, delayMs: number) => void
  /** A message was settled. */
  readonly onSettled: (wasFull: boolean) => void
  /** Delivers soon. Not at once: whoever stores or settles must not find itself inside a taker. */
  readonly dispatchSoon: () => void
}

/** The first message after the position that this consumer is for; the position moves up to it. */
const nextWanted = (state: State): StoredMessage | undefined => {
  const { isWanted, stream } = state
  let message = stream.at(state.position + 1)
  while (message !== undefined && !isWanted(message.subject)) {
    state.position += 1
    message = stream.at(state.position + 1)
  }
  return message
}

const isFull = ({ pending, spec }: State) => spec.maxInFlight >= 0 && pending.size >= spec.maxInFlight

/** The next message to deliver: one that came back goes first. */
const pick = (state: State): Pending | undefined => {
  for (let sequence = state.again.shift(); sequence !== undefined; sequence = state.again.shift()) {
    const returned = state.pending.get(sequence)
    if (returned !== undefined) return returned
  }
  const message = isFull(state) ? undefined : nextWanted(state)
  if (message === undefined) return undefined
  const fresh = { message, deliveries: 0, returnAtMs: Infinity }
  state.position = message.sequence
  state.pending.set(message.sequence, fresh)
  return fresh
}

const deliveryOf = (state: State, found: Pending): Delivered => {
  const { pending, spec } = state
  const { deliveries, message } = found
  const { sequence } = message
  return {
    ...message,
    deliveryCount: deliveries,
    ack: () => {
      const wasFull = isFull(state)
      if (pending.delete(sequence)) state.onSettled(wasFull)
    },
    nak: (delayMs = 0) => {
      // One that was delivered again meanwhile is no longer this delivery's to hand back.
      if (pending.has(sequence) && found.deliveries === deliveries) state.returnAfter(found, delayMs)
    },
    working: () => {
      if (pending.has(sequence)) state.returnAfter(found, spec.ackWaitMs)
    }
  }
}

/** Offers a message to each taker in turn, until one takes it. */
const offer = (state: State, found: Pending): boolean => {
  found.deliveries += 1
  for (let turns = state.takers.length; turns > 0; turns--) {
    const taker = state.takers.shift()
    if (taker === undefined) break
    state.takers.push(taker)
    if (taker(deliveryOf(state, found))) return true
  }
  found.deliveries -= 1
  return false
}

/** Delivers all that may be delivered now. */
const dispatch = (state: State) => {
  while (state.takers.length > 0) {
    const found = pick(state)
    if (found === undefined) return
    state.returnAfter(found, state.spec.ackWaitMs)
    if (offer(state, found)) continue
    found.returnAtMs = Infinity
    state.again.unshift(found.message.sequence)
    return
  }
}

/** Puts messages back when their time has come; one look finds all of them, so that a delivery needs no timer of its own. */
const makeReturns = Effect.fnUntraced(function* (
  { again, pending }: Pick<State, "again" | "pending">,
  onReturned: () => void
) {
  const clock = yield* Clock.Clock
  const run = yield* FiberSet.runtime(yield* FiberSet.make<void, never>())()
  /** The next time at which somebody looks. */
  let nextMs = Infinity

  const lookAt = (atMs: number) => {
    if (atMs >= nextMs) return
    nextMs = atMs
    const delayMs = Math.max(0, atMs - clock.currentTimeMillisUnsafe())
    run(
      Effect.delay(
        Effect.sync(() => look(atMs)),
        delayMs
      )
    )
  }
  const look = (atMs: number) => {
    if (atMs === nextMs) nextMs = Infinity
    const now = clock.currentTimeMillisUnsafe()
    let earliest = Infinity
    for (const [sequence, found] of pending) {
      if (found.returnAtMs <= now) {
        found.returnAtMs = Infinity
        again.push(sequence)
      } else earliest = Math.min(earliest, found.returnAtMs)
    }
    if (again.length > 0) onReturned()
    if (earliest < Infinity) lookAt(earliest)
  }
  return (found: Pending, delayMs: number) => {
    found.returnAtMs = clock.currentTimeMillisUnsafe() + delayMs
    lookAt(found.returnAtMs)
  }
})

/** Somebody may wait until all consumers are idle. */
interface Settling {
  readonly isAwaited: () => boolean
  /** Called after each round of deliveries, and when a message was settled. */
  readonly onChange: () => void
}

/**
 * The ack wait uses the clock of whoever makes the consumer, and deliveries are tasks of their scheduler, so both may be
 * virtual.
 */
export const makeMemoryConsumer = Effect.fnUntraced(function* (
  stream: MemoryStream,
  spec: ConsumerSpec,
  settling: Settling
): Effect.fn.Return<MemoryConsumer, never, Scope.Scope> {
  const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
  const pending: State["pending"] = new Map()
  const again: State["again"] = []
  let planned = false

  const dispatchSoon = () => {
    if (planned) return
    planned = true
    dispatcher.scheduleTask(() => {
      planned = false
      dispatch(state)
      settling.onChange()
    }, 0)
  }
  const state: State = {
    ...{ stream, spec, pending, again, dispatchSoon },
    isWanted: subjectMatcher(spec.filters),
    takers: [],
    position: 0,
    returnAfter: yield* makeReturns({ pending, again }, dispatchSoon),
    onSettled: (wasFull) => {
      if (wasFull || settling.isAwaited()) dispatchSoon()
    }
  }

  const stopListening = stream.onStored(({ subject }) => {
    if (state.isWanted(subject)) dispatchSoon()
  })
  yield* Effect.addFinalizer(() => Effect.sync(stopListening))
  return {
    add: (taker) => {
      state.takers.push(taker)
      dispatchSoon()
      return () => {
        const index = state.takers.indexOf(taker)
        if (index >= 0) state.takers.splice(index, 1)
      }
    },
    offerAgain: dispatchSoon,
    isIdle: () => state.pending.size === 0 && nextWanted(state) === undefined,
    lag: () => {
      const refused = [...pending.values()].filter(({ deliveries }) => deliveries === 0).length
      const behind = stream.after(state.position).filter(({ subject }) => state.isWanted(subject)).length
      return { waiting: behind + refused, unsettled: pending.size - refused }
    }
  }
})
