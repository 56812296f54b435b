/** Everything needed to handle the inputs of one kind of actor, as one value that the runtime's functions share. */
import { contracts, type Key, type Subjects } from "@reprise/protocol"
import { Schema } from "effect"
import type { Actor, Tagged } from "../Actor.ts"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import { type ActorMemory, type Arrivals, makeActorMemory } from "./ActorMemory.ts"
import type { Answers } from "./Answers.ts"
import type { EventEncoder } from "./decideInput.ts"
import type { Sender } from "./outbox.ts"
import type { ViewWriter } from "./ViewWriter.ts"

export interface ActorRuntime<State, Input extends Tagged, Event extends Tagged> {
  readonly actor: Actor<State, Input, Event, Tagged>
  readonly broker: BrokerShape
  readonly subjects: Subjects
  readonly settings: ActorSettings
  readonly memory: ActorMemory<State>
  readonly answers: Answers
  readonly views: ViewWriter<State>
  readonly arrivals: Arrivals
  readonly encode: EventEncoder<Event>
  /** `/<service>/<host>`: the source of every message. */
  readonly source: string
  /**
   * The id of a journal message: unique for each attempt to write, not for each input. With an id per input, two
   * replicas that decide the same input at the same time would both be told that they wrote it.
   */
  readonly nextAttemptId: (key: Key) => string
}

/** `writer`: an id that no other runtime has. */
export const makeActorRuntime = <State, Input extends Tagged, Event extends Tagged>(
  actor: Actor<State, Input, Event, Tagged>,
  broker: BrokerShape,
  subjects: Subjects,
  settings: ActorSettings,
  answers: Answers,
  views: ViewWriter<State>,
  writer: string
): ActorRuntime<State, Input, Event> => {
  const arrivals: Arrivals = { last: 0 }
  let attempts = 0
  return {
    actor,
    broker,
    subjects,
    settings,
    memory: makeActorMemory(actor, broker, subjects, settings, arrivals),
    answers,
    views,
    arrivals,
    encode: Schema.encodeSync(actor.journal),
    source: `/${actor.service}/${settings.host}`,
    nextAttemptId: (key) => {
      attempts += 1
      return `${contracts[actor.service].actor}.${key}.${writer}.${attempts}`
    }
  }
}

/** A runtime whose actor is of no particular type, for steps that look at neither state nor inputs. */
type Addressing = Pick<ActorRuntime<never, never, never>, "source" | "subjects"> & {
  readonly actor: Pick<Actor<never, never, never>, "service">
}

export const senderOf = ({ actor, source, subjects }: Addressing, key: Key): Sender => ({
  service: actor.service,
  key,
  source,
  subjects
})

/** The subject of one actor's journal. */
export const journalSubject = ({ actor, subjects }: Addressing, key: Key): string =>
  subjects.journal(contracts[actor.service].actor, key)
