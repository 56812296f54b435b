/** A named consumer in memory: its position and what is delivered and not settled, shared by all who use it. */
import { Effect, FiberMap, Scheduler, type Scope } from "effect"
import type { ConsumerSpec, Delivered, StoredMessage } from "../broker/Broker.ts"
import { type MemoryStream, matchesSubject } from "./MemoryStream.ts"

/** Takes a delivery; returns false when it no longer wants one. */
export type Taker = (delivery: Delivered) => boolean

export interface MemoryConsumer {
  /** Deliveries go to the takers in turn. Gives what removes the taker. */
  readonly add: (taker: Taker) => () => void
  /** Whether every message is settled. */
  readonly isIdle: () => boolean
}

interface Pending {
  readonly message: StoredMessage
  deliveries: number
}

interface State {
  readonly stream: MemoryStream
  readonly spec: ConsumerSpec
  readonly takers: Array<Taker>
  /** Delivered and not settled, by sequence. */
  readonly pending: Map<number, Pending>
  /** Sequences to deliver again, before new messages. */
  readonly again: Array<number>
  /** Sequence of the last message that was looked at. */
  position: number
  /** Delivers the message again after the delay, in place of an earlier plan for it. */
  readonly returnAfter: (sequence: number, delayMs: number) => void
  readonly cancelReturn: (sequence: number) => void
  /** Delivers soon. Not at once: whoever stores or settles must not find itself inside a taker. */
  readonly dispatchSoon: () => void
}

/** The first message after the position that this consumer is for; the position moves up to it. */
const nextWanted = (state: State): StoredMessage | undefined => {
  const { spec, stream } = state
  const isWanted = ({ subject }: StoredMessage) => spec.filters.some((filter) => matchesSubject(filter, subject))
  let message = stream.at(state.position + 1)
  while (message !== undefined && !isWanted(message)) {
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
  const fresh = { message, deliveries: 0 }
  state.position = message.sequence
  state.pending.set(message.sequence, fresh)
  return fresh
}

const deliveryOf = (state: State, { deliveries, message }: Pending): Delivered => {
  const { pending, spec } = state
  const { sequence } = message
  return {
    ...message,
    deliveryCount: deliveries,
    ack: () => {
      pending.delete(sequence)
      state.cancelReturn(sequence)
      state.dispatchSoon()
    },
    nak: (delayMs = 0) => {
      // One that was delivered again meanwhile is no longer this delivery's to hand back.
      if (pending.get(sequence)?.deliveries === deliveries) state.returnAfter(sequence, delayMs)
    },
    working: () => {
      if (pending.has(sequence)) state.returnAfter(sequence, spec.ackWaitMs)
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
    const { sequence } = found.message
    state.returnAfter(sequence, state.spec.ackWaitMs)
    if (offer(state, found)) continue
    state.cancelReturn(sequence)
    state.again.unshift(sequence)
    return
  }
}

/**
 * `onChange` is called after each round of deliveries. The ack wait uses the clock of whoever makes the consumer, and
 * deliveries are tasks of their scheduler, so both may be virtual.
 */
export const makeMemoryConsumer = Effect.fnUntraced(function* (
  stream: MemoryStream,
  spec: ConsumerSpec,
  onChange: () => void
): Effect.fn.Return<MemoryConsumer, never, Scope.Scope> {
  const returns = yield* FiberMap.make<number, void, never>()
  const planReturn = yield* FiberMap.runtime(returns)()
  const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
  let planned = false

  const state: State = {
    stream,
    spec,
    takers: [],
    pending: new Map(),
    again: [],
    position: 0,
    returnAfter: (sequence, delayMs) => {
      const putBack = Effect.sync(() => {
        state.again.push(sequence)
        state.dispatchSoon()
      })
      planReturn(sequence, Effect.delay(putBack, `${delayMs} millis`))
    },
    cancelReturn: (sequence) => void planReturn(sequence, Effect.void),
    dispatchSoon: () => {
      if (planned) return
      planned = true
      dispatcher.scheduleTask(() => {
        planned = false
        dispatch(state)
        onChange()
      }, 0)
    }
  }

  const stopListening = stream.onStored(state.dispatchSoon)
  yield* Effect.addFinalizer(() => Effect.sync(stopListening))
  return {
    add: (taker) => {
      state.takers.push(taker)
      state.dispatchSoon()
      return () => {
        const index = state.takers.indexOf(taker)
        if (index >= 0) state.takers.splice(index, 1)
      }
    },
    isIdle: () => state.pending.size === 0 && nextWanted(state) === undefined
  }
})
