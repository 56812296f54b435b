/**
 * What happens to one input of one actor (docs/design/architecture.md#how-an-actor-works-durable-intent, steps 2 to 6).
 * It runs in the actor's queue, so never twice at once for one key in a process; the journal fences other processes.
 */
import { defined, type Key, type MessageMeta, type ServiceName } from "@reprise/protocol"
import { Clock, Effect, Result, type Tracer } from "effect"
import { type Delivery, Refusal, type Tagged } from "../Actor.ts"
import { type BrokerFault, type BrokerFull, Conflict } from "../broker/faults.ts"
import type { PoisonMessage } from "../DeadLetter.ts"
import { record, sample } from "../metrics/metrics.ts"
import type { Undecodable } from "../wire.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import { type ActorRuntime, journalSubject, senderOf } from "./ActorRuntime.ts"
import { commit, loadActor, sendAgain } from "./commit.ts"
import { decideInput } from "./decideInput.ts"
import { earlierAnswer } from "./earlierAnswers.ts"
import { refuse } from "./refusals.ts"
import { continuing, traceparentOf } from "./telemetry.ts"

export type HandlingFailure = PoisonMessage | Undecodable | Conflict | BrokerFault | BrokerFull

/** An input as a queue gets it. */
export interface ActorInput<Input> {
  readonly key: Key
  readonly input: Input
  readonly meta: MessageMeta
  /** How many inputs this process had received when it came, itself included. */
  readonly arrival: number
  /** It was delivered before: a dead process, or this one, may have handled it. */
  readonly redelivered: boolean
}

const deliveryOf = ({ key, meta }: ActorInput<unknown>, now: number): Delivery => ({
  id: meta.id,
  key,
  now: new Date(now).toISOString(),
  ...defined({ causation: meta.causation })
})

/** A message that is older may have been handled, and be delivered again because the broker lost its consumer. */
const freshForMs = 60_000

const mayBeRepeat = ({ meta, redelivered }: ActorInput<unknown>) =>
  Effect.map(Clock.currentTimeMillis, (now) => redelivered || now - Date.parse(meta.time) > freshForMs)

/** The receipt of an input that was handled before. What it led to is sent again, as its sender may have died before. */
const earlierReceipt = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  received: ActorInput<Input>,
  loaded: LoadedActor<State>
) {
  const known = loaded.receipts.sequenceOf(received.meta.id)
  const looksUp = known === undefined && (yield* mayBeRepeat(received))
  const receipt = looksUp ? yield* earlierAnswer(runtime, received, loaded) : known
  // A refusal, whose receipt is 0, led to nothing more.
  if (receipt) yield* sendAgain(runtime, received.key, loaded, receipt)
  return receipt
})

/** Whether the state is no older than the input. Inputs that wait in a queue share one read of the journal. */
const isUpToDate = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  { arrival, key }: ActorInput<Input>,
  loaded: LoadedActor<State>
) {
  if (loaded.freshFor >= arrival) return true
  const freshFor = runtime.arrivals.last
  const last = yield* runtime.broker.last("journal", journalSubject(runtime, key))
  if ((last?.sequence ?? 0) !== loaded.sequence) return false
  loaded.freshFor = freshFor
  return true
})

/** Stores the answer to an input. */
type Answer = Effect.Effect<void, BrokerFault | BrokerFull>

/** The sequence of the decision in the journal, 0 when nothing was decided; or the answer, which is still to be stored. */
type Handled = number | Answer

/** Decides, and records or gives the answer. Undefined when the state was old: then nothing happened. */
const decideOnce = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  received: ActorInput<Input>,
  loaded: LoadedActor<State>,
  traceparent: string
): Effect.fn.Return<Handled | undefined, HandlingFailure> {
  const { key, meta } = received
  const now = yield* Clock.currentTimeMillis
  loaded.usedAt = now
  const delivery = deliveryOf(received, now)
  const decided = decideInput(runtime.actor, runtime.encode, senderOf(runtime, key), {
    state: loaded.state,
    input: received.input,
    meta,
    delivery,
    traceparent
  })
  if (Result.isSuccess(decided) && decided.success._tag === "Decided") {
    // Whoever was refused hears of it before anybody hears of what is decided after.
    yield* runtime.answers.given(key)
    return yield* commit(runtime, key, loaded, decided.success).pipe(
      Effect.catchTag("Conflict", () => Effect.succeed(undefined))
    )
  }
  // Without a write the journal fences nothing: an answer must not rest on an old state.
  if (!(yield* isUpToDate(runtime, received, loaded))) return undefined
  const decision = yield* Effect.fromResult(decided)
  if (decision._tag !== "Refused") return 0
  return yield* refuse(runtime, received, loaded, decision.refusal, { time: delivery.now, traceparent })
})

/** `sinceMs`: when it was taken, on the clock of `performance`. */
const measure = (service: ServiceName, handled: Handled, sinceMs: number) => {
  const outcome = typeof handled !== "number" ? "refused" : handled > 0 ? "decided" : "nothing"
  record(sample("reprise_inputs_total", { service, outcome }))
  record(sample("reprise_input_seconds", { service }, (performance.now() - sinceMs) / 1_000))
}

const attempt = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  received: ActorInput<Input>,
  loaded: LoadedActor<State>,
  span: Tracer.Span
): Effect.fn.Return<Handled | undefined, HandlingFailure> {
  const known = yield* earlierReceipt(runtime, received, loaded)
  return known ?? (yield* decideOnce(runtime, received, loaded, traceparentOf(span)))
})

/**
 * Handles one input: afterwards it is decided, written, and all it leads to is sent, except for the answer that it
 * returns. Fails with a conflict after too many lost races. Each attempt is a span: before the first, the actor's trace may
 * not be known.
 */
export const handleInput = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  received: ActorInput<Input>
): Effect.fn.Return<Handled, HandlingFailure> {
  const { actor, memory, settings } = runtime
  const { key, meta } = received
  const sinceMs = performance.now()
  const loaded = memory.peek(key) ?? (yield* loadActor(runtime, key))
  for (let attempts = 0; attempts <= settings.conflictRetries; attempts++) {
    const handled = yield* Effect.useSpan(
      `${actor.service} ${meta.type}`,
      continuing(meta.traceparent, loaded.traceparent),
      // What is logged meanwhile names the trace.
      (span) => Effect.withParentSpan(attempt(runtime, received, loaded, span), span)
    )
    if (handled !== undefined) {
      measure(actor.service, handled, sinceMs)
      return handled
    }
    yield* memory.catchUp(key, loaded)
  }
  return yield* new Conflict({ subject: journalSubject(runtime, key), expected: loaded.sequence })
})

/** Gives what tells the sender of a command that it cannot be read: senders do not look into the dead letters. */
export const refuseUnreadable = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  key: Key,
  meta: MessageMeta,
  reason: string
) {
  const loaded = runtime.memory.peek(key) ?? (yield* loadActor(runtime, key))
  return yield* Effect.useSpan(
    `${runtime.actor.service} ${meta.type}`,
    continuing(meta.traceparent, loaded.traceparent),
    Effect.fnUntraced(function* (span: Tracer.Span) {
      const time = new Date(yield* Clock.currentTimeMillis).toISOString()
      const refusal = new Refusal({ code: "unreadable", reason })
      const refused = { key, meta, input: { _tag: meta.type } }
      const how = { time, traceparent: traceparentOf(span) }
      return yield* Effect.withParentSpan(refuse(runtime, refused, loaded, refusal, how), span)
    })
  )
})

/** The read model as the journal has it now; undefined: there is no such actor, or it has no view yet. */
export const currentView = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  viewOf: (state: State) => unknown,
  key: Key
) {
  const inMemory = runtime.memory.peek(key)
  if (inMemory !== undefined) {
    yield* runtime.memory
      .catchUp(key, inMemory)
      .pipe(Effect.onError(() => Effect.sync(() => runtime.memory.forget(key))))
  }
  const loaded = inMemory ?? (yield* loadActor(runtime, key))
  // Ten thousand may be looked at, one after the other. Only those that have something to do stay in memory.
  if (inMemory === undefined) runtime.memory.forget(key)
  return loaded.sequence === 0 ? undefined : viewOf(loaded.state)
})
