/** A static consumer in memory: its position and what is delivered and not settled, shared by all who use it. */
import { Effect, FiberMap, type Scope } from "effect"
import type { ConsumerSpec, Delivered, StoredMessage } from "../broker/Broker.ts"
import { type MemoryStream, matchesSubject } from "./MemoryStream.ts"

/** Takes a delivery, or says that it no longer wants one. */
export type Taker = (delivery: Delivered) => boolean

export interface MemoryConsumer {
  /** Deliveries go to the takers in turn. Gives what removes it. */
  readonly add: (taker: Taker) => () => void
  /** Nothing waits, nothing is under way. */
  readonly isIdle: () => boolean
}

interface Pending {
  readonly message: StoredMessage
  count: number
}

/** Redelivery is by the clock of the scope that made it, so virtual time works. */
export const makeMemoryConsumer = Effect.fnUntraced(function* (
  stream: MemoryStream,
  spec: ConsumerSpec,
  onChange: () => void
): Effect.fn.Return<MemoryConsumer, never, Scope.Scope> {
  const clocks = yield* FiberMap.make<number, void, never>()
  const runClock = yield* FiberMap.runtime(clocks)()
  const takers: Array<Taker> = []
  const pending = new Map<number, Pending>()
  const again: Array<number> = []
  let position = 0
  let planned = false

  const isWanted = (message: StoredMessage) => spec.filters.some((filter) => matchesSubject(filter, message.subject))

  /** The first message after the position that this consumer is for; the position moves up to it. */
  const nextWanted = (): StoredMessage | undefined => {
    let message = stream.at(position + 1)
    while (message !== undefined && !isWanted(message)) {
      position += 1
      message = stream.at(position + 1)
    }
    return message
  }

  /** The next message to deliver: one that came back goes first. */
  const pick = (): Pending | undefined => {
    for (let sequence = again.shift(); sequence !== undefined; sequence = again.shift()) {
      const back = pending.get(sequence)
      if (back !== undefined) return back
    }
    if (spec.maxInFlight >= 0 && pending.size >= spec.maxInFlight) return undefined
    const message = nextWanted()
    if (message === undefined) return undefined
    const fresh = { message, count: 0 }
    position = message.sequence
    pending.set(position, fresh)
    return fresh
  }

  const returnAfter = (sequence: number, delayMs: number) =>
    runClock(
      sequence,
      Effect.sleep(`${delayMs} millis`).pipe(
        Effect.andThen(
          Effect.sync(() => {
            again.push(sequence)
            plan()
          })
        )
      )
    )

  const deliveryOf = (found: Pending): Delivered => {
    const { message } = found
    const { sequence } = message
    const isCurrent = (count: number) => pending.get(sequence)?.count === count
    const { count } = found
    return {
      ...message,
      deliveryCount: count,
      ack: () => {
        pending.delete(sequence)
        runClock(sequence, Effect.void)
        plan()
      },
      nak: (delayMs = 0) => {
        if (isCurrent(count)) returnAfter(sequence, delayMs)
      },
      working: () => {
        if (pending.has(sequence)) returnAfter(sequence, spec.ackWaitMs)
      }
    }
  }

  const offer = (found: Pending): boolean => {
    found.count += 1
    for (let turn = takers.length; turn > 0; turn--) {
      const taker = takers.shift()
      if (taker === undefined) break
      takers.push(taker)
      if (taker(deliveryOf(found))) return true
    }
    found.count -= 1
    return false
  }

  const dispatch = () => {
    planned = false
    while (takers.length > 0) {
      const found = pick()
      if (found === undefined) break
      returnAfter(found.message.sequence, spec.ackWaitMs)
      if (offer(found)) continue
      runClock(found.message.sequence, Effect.void)
      again.unshift(found.message.sequence)
      break
    }
    onChange()
  }

  /** Not at once: whoever stores or settles must not find itself inside a taker. */
  const plan = () => {
    if (planned) return
    planned = true
    queueMicrotask(dispatch)
  }

  const stopListening = stream.onStored(plan)
  yield* Effect.addFinalizer(() => Effect.sync(stopListening))
  return {
    add: (taker) => {
      takers.push(taker)
      plan()
      return () => {
        const at = takers.indexOf(taker)
        if (at >= 0) takers.splice(at, 1)
      }
    },
    isIdle: () => pending.size === 0 && nextWanted() === undefined
  }
})
