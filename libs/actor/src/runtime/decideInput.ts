/** One decision, pure: from a state and an input to the journal entry to write, or the answer to give. */
import type { MessageMeta, PublicEvent } from "@reprise/protocol"
import { Result } from "effect"
import type { Actor, Delivery, Refusal, Tagged } from "../Actor.ts"
import { PoisonMessage } from "../DeadLetter.ts"
import type { JournalEntry } from "../JournalEntry.ts"
import { journalled, type Sender } from "./outbox.ts"

export type Decision<State> =
  | { readonly _tag: "Refused"; readonly refusal: Refusal }
  /** The actor recorded nothing. */
  | { readonly _tag: "Nothing" }
  | Decided<State>

export interface Decided<State> {
  readonly _tag: "Decided"
  readonly state: State
  readonly entry: JournalEntry
  /** The types of its events, for the logs. */
  readonly types: ReadonlyArray<string>
  /** What it publishes, for the metrics. */
  readonly published: ReadonlyArray<PublicEvent>
}

export interface DecisionInput<State, Input> {
  readonly state: State
  readonly input: Input
  readonly meta: MessageMeta
  readonly delivery: Delivery
  readonly traceparent: string
}

/** Encodes one event for the journal; throws when it does not match the actor's schema. */
export type EventEncoder<Event> = (event: Event) => unknown

/** Runs `decide`, `evolve` and `react`. When one of them throws, the input can never be handled. */
export const decideInput = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>,
  encode: EventEncoder<Event>,
  sender: Sender,
  { delivery, input, meta, state, traceparent }: DecisionInput<State, Input>
): Result.Result<Decision<State>, PoisonMessage> => {
  try {
    const outcome = actor.decide(state, input, delivery)
    if (Result.isFailure(outcome)) return Result.succeed({ _tag: "Refused", refusal: outcome.failure })
    const events = outcome.success
    if (events.length === 0) return Result.succeed({ _tag: "Nothing" })
    const next = events.reduce(actor.evolve, state)
    const run = actor.runOf(next)
    const outgoing = actor.react(next, events, delivery)
    return Result.succeed({
      _tag: "Decided",
      state: next,
      types: events.map(({ _tag }) => _tag),
      published: outgoing.flatMap((one) => (one._tag === "PublishEvent" ? [one.event] : [])),
      entry: {
        input: { id: meta.id, type: meta.type },
        at: delivery.now,
        run: run ?? meta.subject,
        traceparent,
        events: events.map(encode),
        outgoing: outgoing.map((one) => journalled(sender, run, one))
      }
    })
  } catch (cause) {
    return Result.fail(PoisonMessage.thrownBy(`${sender.service}, ${meta.type}`, cause))
  }
}
