/**
 * What one service promises to the others, as one value: the commands it takes, the events it publishes, the view that
 * answers queries, the codes of its refusals, and which events answer which command (docs/design/protocol.md#messages).
 */
import { Schema } from "effect"
import type { ServiceName } from "../ids.ts"

/** A union of messages by their type names, as `Schema.TaggedUnion` makes it. */
interface Messages {
  readonly Type: { readonly _tag: string }
  readonly cases: Readonly<Record<string, { readonly fields: object }>>
}

/** Which events answer a command. */
export interface Outcome<Type extends string> {
  readonly events: ReadonlyArray<Type>
  /** `this-command`: an event answers only the command that led to it. `any`: it answers whatever led to it. */
  readonly cause: "this-command" | "any"
}

/** The command is answered by one of these events, if the command itself led to it. */
export const caused = <const Types extends ReadonlyArray<string>>(...events: Types): Outcome<Types[number]> => ({
  events,
  cause: "this-command"
})

/** The command is answered by one of these events, also if something else led to it: the command asks for a state. */
export const eventual = <const Types extends ReadonlyArray<string>>(...events: Types): Outcome<Types[number]> => ({
  events,
  cause: "any"
})

export interface Contract<
  Service extends ServiceName = ServiceName,
  Actor extends string = string,
  Id extends string = string,
  KeyField extends string | undefined = string | undefined,
  Commands extends Messages = Messages,
  Events extends Messages = Messages,
  View = unknown,
  Code extends string = string,
  Outcomes extends Readonly<Record<string, Outcome<string>>> = Readonly<Record<string, Outcome<string>>>
> {
  readonly service: Service
  /** The name of its kind of actor in journal subjects. */
  readonly actor: Actor
  /** The schema of its actor's id. */
  readonly key: Schema.Codec<Id, string>
  /** The field of its commands and events that holds the actor's id; undefined: none does. */
  readonly keyField: KeyField
  readonly commands: Commands
  readonly events: Events
  /** The read model that `list` and `show` answer with. */
  readonly view: Schema.Codec<View, unknown>
  /** The codes of its refusals. */
  readonly refusals: ReadonlyArray<Code>
  /** The commands that `Messenger.ask` can send and wait for, with what answers them. */
  readonly outcomes: Outcomes
}

/** A contract as the most precise type; an outcome of a command or event that is not the service's does not compile. */
export const contract = <
  Service extends ServiceName,
  Actor extends string,
  Id extends string,
  const KeyField extends string | undefined,
  Commands extends Messages,
  Events extends Messages,
  View,
  const Code extends string,
  Outcomes extends { readonly [Type in Commands["Type"]["_tag"]]?: Outcome<Events["Type"]["_tag"]> }
>(
  value: Omit<Contract<Service, Actor, Id, KeyField, Commands, Events, View, Code>, "outcomes"> & {
    readonly outcomes: Outcomes
  }
) => value

/** The queries of every service. */
export const queries = {
  /** A filter: a view is listed when it has each of the given values. */
  list: Schema.Struct({
    state: Schema.optionalKey(Schema.String),
    status: Schema.optionalKey(Schema.String),
    runId: Schema.optionalKey(Schema.String),
    /** Views without what is looked at one at a time, such as a question's evidence. */
    brief: Schema.optionalKey(Schema.Boolean),
    /** Only what a line of a long list shows: `RunLine`, `EscalationLine`. */
    lines: Schema.optionalKey(Schema.Boolean),
    /** Only so many, those that changed last. */
    most: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
  }),
  show: Schema.Struct({ id: Schema.String })
} as const
export type ListFilter = typeof queries.list.Type

/** Why a query was not answered. */
export const ApiError = Schema.Struct({ code: Schema.String, message: Schema.String, hint: Schema.String })
export type ApiError = typeof ApiError.Type
