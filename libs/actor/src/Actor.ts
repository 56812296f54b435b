/**
 * An actor is a key, a journal and three pure functions (architecture: An actor works by durable intent).
 * State and events are plain JSON data. Nothing here knows JetStream, a clock or randomness.
 */
import {
  type Addressed,
  contracts,
  type Host,
  type Key,
  type PublicEvent,
  type RefusalCode,
  type ServiceName
} from "@reprise/protocol"
import { Result, Schema } from "effect"

/** Anything with a type name: commands, events, work. */
export interface Tagged {
  readonly _tag: string
}

/** How an input arrived. */
export interface Delivery {
  /** The message's id; the same at every redelivery. */
  readonly id: string
  /** The actor's key: the last token of the command's subject. */
  readonly key: Key
  /** When it is decided, ISO 8601 UTC. */
  readonly now: string
  /** Id of the message that led to it: of a refusal, the refused command's. */
  readonly causation?: string
}

/** Whether a message with this id was sent by that actor, because of its journal. */
export const isSentBy = (service: ServiceName, key: Key, id: string): boolean =>
  id.startsWith(`${contracts[service].actor}.${key}.`)

/** A business no: recorded as a public `CommandRefused` event, and never retried. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  /** One of the service's refusal codes. */
  code: Schema.optionalKey(Schema.String),
  /** A sentence with the next step. */
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** How one service refuses: `const refuse = refusing("gate")`, then `refuse("closed", "Escalation … is closed: …")`. */
export const refusing =
  <Service extends ServiceName>(_service: Service) =>
  (code: RefusalCode<Service>, reason: string): Result.Result<never, Refusal> =>
    Result.fail(new Refusal({ code, reason }))

interface SendCommand {
  readonly _tag: "SendCommand"
  readonly service: ServiceName
  readonly key: Key
  readonly command: Tagged
}
interface PublishEvent {
  readonly _tag: "PublishEvent"
  readonly event: PublicEvent
}
interface RequestWork<Work extends Tagged> {
  readonly _tag: "RequestWork"
  readonly host: Host
  readonly work: Work
}
/** A command to the actor itself, delivered at `dueAt` (ISO 8601) or soon after; a stale one is refused by its state. */
interface SetTimer<Own extends Tagged> {
  readonly _tag: "SetTimer"
  readonly dueAt: string
  readonly command: Own
}

/** What an actor sends once its events are committed. Ids derive from the journal, so a repeat is dropped. */
export type Outgoing<Own extends Tagged = Tagged, Work extends Tagged = Tagged> =
  | SendCommand
  | PublishEvent
  | RequestWork<Work>
  | SetTimer<Own>

/** `send(to.gate(id).WithdrawEscalation({ reason }))`. */
export function send(addressed: Addressed): SendCommand
export function send<Command extends Tagged>(service: ServiceName, key: Key, command: Command): SendCommand
export function send(first: Addressed | ServiceName, key?: Key, command?: Tagged): SendCommand {
  if (typeof first !== "string") return { _tag: "SendCommand", ...first }
  if (key === undefined || command === undefined) throw new Error("send: a key and a command")
  return { _tag: "SendCommand", service: first, key, command }
}
export const publish = (event: PublicEvent): PublishEvent => ({ _tag: "PublishEvent", event })
export const requestWork = <Work extends Tagged>(host: Host, work: Work): RequestWork<Work> => ({
  _tag: "RequestWork",
  host,
  work
})
export const setTimer = <Own extends Tagged>(dueAt: string, command: Own): SetTimer<Own> => ({
  _tag: "SetTimer",
  dueAt,
  command
})

/** Public events that are an input of an actor, and whose actor they are an input of. */
export interface Subscription<Event extends PublicEvent = PublicEvent> {
  readonly types: ReadonlyArray<Event["_tag"]>
  /** The actor's key; undefined: not for any actor of this service. */
  readonly route: (event: Event) => Key | undefined
}

/** `Work`: what its worker does (`requestWork`); its timers carry inputs of its own. */
export interface Actor<State, Input extends Tagged, Event extends Tagged, Work extends Tagged = Tagged> {
  readonly service: ServiceName
  /** Every command the actor takes, private ones of its own workers and timers included. */
  readonly commands: Schema.Codec<Exclude<Input, PublicEvent>, unknown>
  /** Derive `Input` from its types, so that each is handled; one that is not an input does not compile. */
  readonly subscription?: NoInfer<Subscription<Extract<Input, PublicEvent>>>
  readonly journal: Schema.Codec<Event, unknown>
  readonly initial: State
  /**
   * What the input means in this state. No events: nothing to record (an input that does not concern the actor).
   * A refusal is an answer.
   */
  readonly decide: (state: State, input: Input, delivery: Delivery) => Result.Result<ReadonlyArray<Event>, Refusal>
  readonly evolve: (state: State, event: Event) => State
  /** What is sent after `events` led to `state`. */
  readonly react: (
    state: State,
    events: ReadonlyArray<Event>,
    delivery: Delivery
  ) => ReadonlyArray<Outgoing<Tagged, Work>>
  /** The run an actor belongs to, once known: the key token of the events it publishes. */
  readonly runOf: (state: State) => string | undefined
  /** The read model of one actor; undefined: none yet. */
  readonly view?: (state: State) => unknown
  /** Raised when the shape of State changes: older snapshots are then ignored and the journal replayed. */
  readonly snapshotVersion: number
}
