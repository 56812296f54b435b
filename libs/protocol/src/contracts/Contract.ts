/**
 * What one service promises to the others, as one value: the commands it takes, the events it tells, the view it
 * answers queries with, the codes of its refusals, and which event answers which command (docs/design/protocol.md).
 */
import { Schema } from "effect"
import type { ServiceName } from "../services.ts"

/** Messages by their type names: what `Schema.TaggedUnion` makes. */
interface Messages {
  readonly Type: { readonly _tag: string }
  readonly cases: Readonly<Record<string, { readonly fields: object }>>
}

/** Which events answer a command. */
export interface Outcome<Type extends string> {
  readonly events: ReadonlyArray<Type>
  /** `this-command`: only events that this very command led to. `any`: whatever led to them. */
  readonly cause: "this-command" | "any"
}

/** One of these events answers the command, when the command itself led to it. */
export const caused = <const Types extends ReadonlyArray<string>>(...events: Types): Outcome<Types[number]> => ({
  events,
  cause: "this-command"
})

/** One of these events answers the command, also when something else led to it: the command asks for a state. */
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
  /** The name of its actor in journal subjects. */
  readonly actor: Actor
  /** The schema of its actor's id. */
  readonly key: Schema.Codec<Id, string>
  /** The field of commands and events that holds its actor's id. */
  readonly keyField: KeyField
  readonly commands: Commands
  readonly events: Events
  /** What `list` and `show` answer with. */
  readonly view: Schema.Codec<View, unknown>
  /** Why it refuses commands. Besides these, a code may be missing in events of older versions. */
  readonly refusals: ReadonlyArray<Code>
  /** Commands that can be asked, that is sent and waited for. */
  readonly outcomes: Outcomes
}

/** Checks a contract: outcomes name its own commands and events, the key field is one of its commands' fields. */
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
  /** A view is listed when every field that is given has this value in it. */
  list: Schema.Struct({
    state: Schema.optionalKey(Schema.String),
    status: Schema.optionalKey(Schema.String),
    runId: Schema.optionalKey(Schema.String)
  }),
  show: Schema.Struct({ id: Schema.String })
} as const
export type ListFilter = typeof queries.list.Type

/** Why a query was not answered. */
export const ApiError = Schema.Struct({ code: Schema.String, message: Schema.String, hint: Schema.String })
export type ApiError = typeof ApiError.Type
