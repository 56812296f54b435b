/**
 * What happens to one input of one actor (architecture: An actor works by durable intent, steps 2 to 6).
 * Runs in the actor's lane, so never twice at once for one key in a process; other processes are fenced by the journal.
 */
import { contracts, type Key, type MessageMeta, type Subjects } from "@reprise/protocol"
import { Clock, Effect, Result, Schema, type Tracer } from "effect"
import { type Actor, Refusal, type Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape, Message } from "../broker/Broker.ts"
import { Conflict } from "../broker/faults.ts"
import { type JournalEntry, readEntry } from "../JournalEntry.ts"
import { bodyOf } from "../wire.ts"
import { type LastEntry, type Loaded, makeActorMemory } from "./ActorMemory.ts"
import { type Decision, decideInput } from "./decideInput.ts"
import { messagesOf, refusalIdOf, refusalMessage, type Sender } from "./outbox.ts"
import { refusalEvent, runOfRefused } from "./refusal.ts"
import { continuing, traceparentOf } from "./trace.ts"
import { putView } from "./views.ts"

/** An input as a lane gets it. */
export interface ActorInput<Input> {
  readonly key: Key
  readonly input: Input
  readonly meta: MessageMeta
  /** It was delivered before: a dead process, or this one, may have handled it. */
  readonly redelivered: boolean
}

/** Inside this time the stream drops what is published again, so an entry that may not have been sent is sent again. */
const sendAgainWithinMs = 5 * 60_000

export const makeInputHandler = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event>,
  broker: BrokerShape,
  subjects: Subjects,
  settings: ActorSettings
) => {
  const { service } = actor
  const memory = makeActorMemory(actor, broker, subjects, settings)
  const encode = Schema.encodeSync(actor.journal)
  const source = `/${service}/${settings.host}`
  const writer = crypto.randomUUID()
  let written = 0

  const senderOf = (key: Key): Sender => ({ service, key, source, subjects })

  const showView = (key: Key, loaded: Loaded<State>) => {
    const view = loaded.sequence === 0 ? undefined : actor.view?.(loaded.state)
    return view === undefined
      ? Effect.void
      : putView(broker.views, `${service}.${key}`, loaded.view, loaded.sequence, view)
  }

  /** A view is a convenience: it neither holds the actor up nor fails its input. */
  const putViewQuietly = (key: Key, loaded: Loaded<State>) =>
    Effect.suspend(() => showView(key, loaded)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("the view was not written", cause))
    )

  const send = (key: Key, { entry, sequence }: LastEntry) => broker.publish(messagesOf(senderOf(key), entry, sequence))

  const load = Effect.fnUntraced(function* (key: Key) {
    const { actor: loaded, newest } = yield* memory.load(key)
    const unsent = newest !== undefined && loaded.usedAt - Date.parse(newest.entry.at) < sendAgainWithinMs
    if (unsent) yield* send(key, newest)
    return loaded
  })

  /** What was sent for this input is sent again, with the same ids; nothing is decided twice. */
  const repeat = Effect.fnUntraced(function* (key: Key, loaded: Loaded<State>, sequence: number) {
    if (sequence === 0) return
    const journal = subjects.journal(contracts[service].actor, key)
    const [message] = yield* broker.read("journal", journal, sequence - 1, 1)
    if (message === undefined || message.sequence !== sequence) return
    yield* send(key, { entry: yield* Effect.fromResult(readEntry(yield* bodyOf(message))), sequence })
    yield* putViewQuietly(key, loaded)
  })

  const append = (key: Key, loaded: Loaded<State>, entry: JournalEntry, traceparent: string) => {
    written += 1
    const message: Message = {
      subject: subjects.journal(contracts[service].actor, key),
      body: JSON.stringify(entry),
      meta: {
        // Unique per attempt: two replicas that decide the same command must not pass for one writer.
        id: `${contracts[service].actor}.${key}.${writer}.${written}`,
        type: "JournalEntry",
        source,
        subject: entry.run,
        time: entry.at,
        traceparent,
        causation: entry.input.id
      }
    }
    return broker.append(message, loaded.sequence)
  }

  const commit = Effect.fnUntraced(function* (
    key: Key,
    loaded: Loaded<State>,
    decided: Extract<Decision<State>, { _tag: "Decided" }>,
    traceparent: string
  ) {
    const { entry, state, types } = decided
    const sequence = yield* append(key, loaded, entry, traceparent)
    yield* Effect.logDebug(`decided: ${types.join(", ")}`)
    loaded.state = state
    loaded.sequence = sequence
    loaded.receipts.add(entry.input.id, sequence)
    loaded.eventsSinceSnapshot += entry.events.length
    yield* Effect.all([send(key, { entry, sequence }), putViewQuietly(key, loaded)], {
      concurrency: "unbounded",
      discard: true
    })
  })

  const refuse = Effect.fnUntraced(function* (
    { input, key, meta }: Pick<ActorInput<Tagged>, "input" | "key" | "meta">,
    loaded: Loaded<State>,
    refusal: Refusal,
    at: string,
    traceparent: string
  ) {
    const run = runOfRefused(actor.runOf(loaded.state), input, meta, key)
    yield* Effect.logInfo(`refused: ${refusal.reason}`)
    yield* broker.publish([
      refusalMessage(senderOf(key), { meta, run, at }, refusalEvent(run, input, refusal), traceparent)
    ])
    loaded.receipts.add(meta.id, 0)
  })

  const refuseUnread = Effect.fnUntraced(function* (key: Key, meta: MessageMeta, reason: string, span: Tracer.Span) {
    const loaded = memory.peek(key) ?? (yield* load(key))
    const at = new Date(yield* Clock.currentTimeMillis).toISOString()
    const refusal = new Refusal({ code: "unreadable", reason })
    yield* refuse({ key, meta, input: { _tag: meta.type } }, loaded, refusal, at, traceparentOf(span))
  })

  /** Whether the refusal of this input was published before a process died: then it stays refused. */
  const wasRefused = Effect.fnUntraced(function* ({ input, key, meta }: ActorInput<Input>, loaded: Loaded<State>) {
    const run = runOfRefused(actor.runOf(loaded.state), input, meta, key)
    const last = yield* broker.last("events", subjects.event(service, run, "CommandRefused"))
    return last?.header("ce-id") === refusalIdOf(meta.id)
  })

  /** An answer that writes nothing is not fenced by the journal: it must not rest on an old state. */
  const isCurrent = Effect.fnUntraced(function* (key: Key, loaded: Loaded<State>) {
    const last = yield* broker.last("journal", subjects.journal(contracts[service].actor, key))
    return (last?.sequence ?? 0) === loaded.sequence
  })

  const handleOnce = Effect.fnUntraced(function* (job: ActorInput<Input>, span: Tracer.Span) {
    const { key, meta } = job
    const known = memory.peek(key)
    const loaded = known ?? (yield* load(key))
    let current = known === undefined
    const traceparent = traceparentOf(span)
    for (let races = 0; races <= settings.conflictRetries; races++) {
      const receipt = loaded.receipts.sequenceOf(meta.id)
      if (receipt !== undefined) return yield* repeat(key, loaded, receipt)
      if (job.redelivered && (yield* wasRefused(job, loaded))) return
      const now = yield* Clock.currentTimeMillis
      loaded.usedAt = now
      const delivery = {
        id: meta.id,
        key,
        now: new Date(now).toISOString(),
        ...(meta.causation === undefined ? {} : { causation: meta.causation })
      }
      const given = { state: loaded.state, input: job.input, meta, delivery, traceparent }
      const decided = decideInput(actor, encode, senderOf(key), given)

      if (Result.isSuccess(decided) && decided.success._tag === "Decided") {
        const outcome = yield* Effect.result(commit(key, loaded, decided.success, traceparent))
        if (Result.isSuccess(outcome)) return
        if (outcome.failure._tag !== "Conflict") return yield* outcome.failure
      } else if (current || (yield* isCurrent(key, loaded))) {
        const decision = yield* Effect.fromResult(decided)
        if (decision._tag === "Refused") yield* refuse(job, loaded, decision.refusal, delivery.now, traceparent)
        return
      }
      yield* memory.catchUp(key, loaded)
      current = true
    }
    return yield* new Conflict({ subject: subjects.journal(contracts[service].actor, key), expected: loaded.sequence })
  })

  return {
    /** Handles one input: afterwards it is decided, written, and all it leads to is sent. */
    handle: (job: ActorInput<Input>) =>
      Effect.useSpan(`${service} ${job.meta.type}`, continuing(job.meta.traceparent), (span) => handleOnce(job, span)),
    /** Tells whoever sent it that a command cannot be read: they do not look into the dead letters. */
    refuseUnread: (key: Key, meta: MessageMeta, reason: string) =>
      Effect.useSpan(`${service} ${meta.type}`, continuing(meta.traceparent), (span) =>
        refuseUnread(key, meta, reason, span)
      ),
    /** After a failure the memory may be behind the journal. */
    forget: memory.forget,
    forgetIdle: memory.forgetIdle,
    /** Writes a snapshot if enough happened since the last. Best effort: without it loading is slower. */
    snapshotIfDue: (key: Key) => {
      const loaded = memory.peek(key)
      return loaded === undefined || loaded.eventsSinceSnapshot < settings.snapshotEvery
        ? Effect.void
        : memory
            .snapshot(key, loaded)
            .pipe(Effect.catch((error) => Effect.logWarning(`no snapshot was written: ${error.message}`)))
    },
    /** The read model as the journal has it now; undefined: there is no such actor, or it has no view yet. */
    view: Effect.fnUntraced(function* (key: Key) {
      const known = memory.peek(key)
      if (known !== undefined) yield* memory.catchUp(key, known)
      const loaded = known ?? (yield* load(key))
      return loaded.sequence === 0 ? undefined : actor.view?.(loaded.state)
    })
  }
}
