/**
 * An actor is a key, a journal and three pure functions
 * (docs/design/architecture.md#how-an-actor-works-durable-intent). State and events are plain JSON data. Nothing here
 * knows JetStream, a clock or randomness.
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

/** A message by its type name: a command, an event, work. */
export interface Tagged {
  readonly _tag: string
}

/** How an input arrived. */
export interface Delivery {
  /** The message's id; the same at every redelivery. */
  readonly id: string
  /** The actor's key: the last token of the command's subject. */
  readonly key: Key
  /** The time of the decision, ISO 8601 UTC. */
  readonly now: string
  /** Id of the message that led to it; of a `CommandRefused`, the id of the refused command. */
  readonly causation?: string
}

/** Whether that actor sent the message with this id: ids of what actors send begin with the actor. */
export const isSentBy = (service: ServiceName, key: Key, id: string): boolean =>
  id.startsWith(`${contracts[service].actor}.${key}.`)

/** An actor's refusal of an input: published as a `CommandRefused` event, and never retried. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  /** One of the service's refusal codes. */
  code: Schema.String,
  /** A sentence with the next step. */
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/**
 * Makes the function by which one service refuses; it takes only the codes of the service's contract.
 *
 * @example
 * const refuse = refusing("gate")
 * return refuse("closed", `Escalation ${id} is closed.`)
 */
export const refusing =
  <Service extends ServiceName>(_service: Service) =>
  (code: RefusalCode<Service>, reason: string): Result.Result<never, Refusal> =>
    Result.fail(new Refusal({ code, reason }))

export interface SendCommand<Command extends Tagged = Tagged> {
  readonly _tag: "SendCommand"
  readonly service: ServiceName
  readonly key: Key
  readonly command: Command
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
/** A command to the actor itself, delivered at `dueAt` (ISO 8601) or soon after. */
interface SetTimer<Own extends Tagged> {
  readonly _tag: "SetTimer"
  readonly dueAt: string
  readonly command: Own
}

/** A message that an actor sends once its events are committed. Ids derive from the journal, so a repeat is dropped. */
export type Outgoing<Own extends Tagged = never, Work extends Tagged = never> =
  | SendCommand
  | PublishEvent
  | RequestWork<Work>
  | SetTimer<Own>

/** What an actor sends, for code that works with any kind of actor. */
export type AnyOutgoing = Outgoing<Tagged, Tagged>

/** A command to an actor of any service: `send(to.gate(id).WithdrawEscalation({ reason }))`. */
export const send = <To extends Addressed>(addressed: To): SendCommand<To["command"]> => ({
  _tag: "SendCommand",
  ...addressed
})
/** A public event, for everybody. */
export const publish = (event: PublicEvent): PublishEvent => ({ _tag: "PublishEvent", event })
/** Long work for a worker of this service, on a host or on any (`anyHost`). */
export const requestWork = <Work extends Tagged>(host: Host, work: Work): RequestWork<Work> => ({
  _tag: "RequestWork",
  host,
  work
})
/**
 * A command to the actor itself at a later time. It cannot be cancelled: when it has become
 * stale, `decide` must refuse or ignore it.
 */
export const setTimer = <Own extends Tagged>(dueAt: string, command: Own): SetTimer<Own> => ({
  _tag: "SetTimer",
  dueAt,
  command
})

/** The public events that are inputs of an actor, and which actor each is an input of. */
export interface Subscription<Event extends PublicEvent = PublicEvent> {
  readonly types: ReadonlyArray<Event["_tag"]>
  /** The actor's key; undefined: the event is for no actor of this service. */
  readonly route: (event: Event) => Key | undefined
}

/** Of an actor whose work is done on a host: who does it, and where. */
export interface WorkOnHost {
  /** The services whose workers do it. */
  readonly by: ReadonlyArray<ServiceName>
  /** The host of a view; undefined: its work is over. */
  readonly hostOf: (view: unknown) => Host | undefined
}

/**
 * One kind of actor. `Input`: its commands and the public events it subscribes to. `Event`: what its journal holds.
 * `Work`: what its worker does.
 *
 * The functions must be pure: `decide` may run several times for one input (after lost races), and `evolve` runs again
 * for the whole journal whenever the actor is loaded. One that throws makes its input a dead letter.
 *
 * @example
 * const counter: Actor<number, Add, Added> = {
 *   service: "gate",
 *   commands: Add,
 *   journal: Added,
 *   initial: 0,
 *   decide: (_total, { n }) => Result.succeed([{ _tag: "Added", n }]),
 *   evolve: (total, { n }) => total + n,
 *   react: () => [],
 *   runOf: () => undefined,
 *   snapshotVersion: 1
 * }
 */
export interface Actor<State, Input extends Tagged, Event extends Tagged, Work extends Tagged = never> {
  readonly service: ServiceName
  /** Every command that the actor takes, also those that only its own workers and timers send. */
  readonly commands: Schema.Codec<Exclude<Input, PublicEvent>, unknown>
  /** An event that is not an `Input` does not compile. Derive `Input` from `types`, so that each must be handled. */
  readonly subscription?: NoInfer<Subscription<Extract<Input, PublicEvent>>>
  readonly journal: Schema.Codec<Event, unknown>
  readonly initial: State
  /**
   * Decides an input in this state: events to record (none when it does not concern the actor), or a refusal, which is
   * published as the answer.
   */
  readonly decide: (state: State, input: Input, delivery: Delivery) => Result.Result<ReadonlyArray<Event>, Refusal>
  readonly evolve: (state: State, event: Event) => State
  /** The messages to send after `events` led to `state`. They are written with the events, and sent once they are. */
  readonly react: (
    state: State,
    events: ReadonlyArray<Event>,
    delivery: Delivery
  ) => ReadonlyArray<NoInfer<Outgoing<Exclude<Input, PublicEvent>, Work>>>
  /** The run that an actor belongs to, once it is known: a token of the subject of its events. */
  readonly runOf: (state: State) => string | undefined
  /** The read model of one actor; undefined: none yet. */
  readonly view?: (state: State) => unknown
  /** The read model in a list of many; absent: as it is. */
  readonly brief?: (view: unknown) => unknown
  /** A line of a long list; absent: the read model as it is. */
  readonly line?: (view: unknown) => unknown
  /** Queries say in the field `hosted` of a view whether its workers are there. */
  readonly workOnHost?: WorkOnHost
  /** Raise it when the shape of `State` changes: older snapshots are then ignored, and the journal is replayed. */
  readonly snapshotVersion: number
}
