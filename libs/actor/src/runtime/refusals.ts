/** The answer to an input that an actor refuses: a public `CommandRefused`, under an id that derives from the input's. */
import { type Key, type MessageMeta, PublicEvent, RunId } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import type { Refusal, Tagged } from "../Actor.ts"
import type { Message } from "../broker/Broker.ts"
import { encodeEvent } from "../wire.ts"
import type { LoadedActor } from "./ActorMemory.ts"
import { type ActorRuntime, senderOf } from "./ActorRuntime.ts"
import type { Sender } from "./outbox.ts"

const {
  code: _code,
  command: _command,
  reason: _reason,
  runId: _runId,
  ...idFields
} = PublicEvent.cases.CommandRefused.fields
const decodeIds = Schema.decodeUnknownOption(Schema.Struct(idFields))

/**
 * The event that answers a refused input. It repeats the ids that the input named (its turn, session, phase, question),
 * so that nobody takes it for the answer to a later command.
 */
export const refusalEvent = (
  run: string,
  input: Tagged,
  { code, reason }: Pick<Refusal, "code" | "reason">
): PublicEvent =>
  PublicEvent.cases.CommandRefused.make({
    ...Option.getOrUndefined(decodeIds({ ...input, _tag: "CommandRefused" })),
    ...{ runId: RunId.make(run), command: input._tag, code, reason }
  })

const isRunId = Schema.is(RunId)

/** The run that a refusal is published under: the actor's, the input's own, the envelope's, or the actor's key. */
const runOfRefused = (known: string | undefined, input: object, meta: MessageMeta, key: Key): string => {
  const named = "runId" in input ? input.runId : undefined
  return [known, named, meta.subject].find((run) => isRunId(run)) ?? key
}

/** An id may be 200 characters long, so the suffix replaces the end of one that has no room for it. */
export const refusalIdOf = (inputId: string): string => `${inputId.slice(0, 190)}.refused`

export interface RefusedInput {
  readonly key: Key
  readonly input: Tagged
  readonly meta: MessageMeta
}

const refusalMessage = (
  sender: Sender,
  { id }: MessageMeta,
  event: PublicEvent,
  time: string,
  traceparent: string
): Message => ({
  subject: sender.subjects.event(sender.service, event.runId, event._tag),
  body: JSON.stringify(encodeEvent(event)),
  meta: {
    id: refusalIdOf(id),
    type: event._tag,
    source: sender.source,
    subject: event.runId,
    time,
    traceparent,
    causation: id
  }
})

/** Gives what publishes the answer, and remembers that the input was refused: delivered again, it is not decided again. */
export const refuse = Effect.fnUntraced(function* <State, Input extends Tagged, Event extends Tagged>(
  runtime: ActorRuntime<State, Input, Event>,
  { input, key, meta }: RefusedInput,
  loaded: LoadedActor<State>,
  refusal: Refusal,
  { time, traceparent }: { readonly time: string; readonly traceparent: string }
) {
  const run = runOfRefused(runtime.actor.runOf(loaded.state), input, meta, key)
  yield* Effect.logInfo(`refused: ${refusal.reason}`)
  const event = refusalEvent(run, input, refusal)
  loaded.receipts.add(meta.id, 0)
  return runtime.broker.publish([refusalMessage(senderOf(runtime, key), meta, event, time, traceparent)])
})

/** Where a refusal of the input may have been published: the actor may not have known its run then. */
export const refusalSubjects = <State, Input extends Tagged, Event extends Tagged>(
  { actor, subjects }: ActorRuntime<State, Input, Event>,
  { input, key, meta }: RefusedInput,
  state: State
): ReadonlySet<string> =>
  new Set(
    [actor.runOf(state), undefined].map((known) =>
      subjects.event(actor.service, runOfRefused(known, input, meta, key), "CommandRefused")
    )
  )
