/** The types of the protocol that have a section of their own, and the links to them. */
import * as protocol from "@reprise/protocol"
import { EscalationId, Host, PhaseId, RunId, SessionId, TurnId } from "@reprise/protocol"
import { Schema } from "effect"
import { jsonSchemaOf, type Names } from "./fields.ts"

interface Struct {
  readonly fields: Readonly<Record<string, Schema.Codec<unknown, unknown>>>
}

export const isStruct = (schema: unknown): schema is Struct => Schema.isSchema(schema) && "fields" in schema

/** By identity, since all of them are strings. */
const ids: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [RunId, "RunId"],
  [SessionId, "SessionId"],
  [TurnId, "TurnId"],
  [EscalationId, "EscalationId"],
  [PhaseId, "PhaseId"],
  [Host, "Host"]
])

/** Schemas of the protocol that have another place on the page, or none. */
const elsewhere = new Set<string>([
  "Key",
  "MessageMeta",
  "BadSubject",
  "ServiceName",
  "RuntimeFailure",
  ...ids.values()
])
const isUnionOfMessages = (name: string) => /(Command|Event)$/.test(name)

export type Named = readonly [name: string, schema: Schema.Top]

/** In the order of the names: that of a module's exports is not the same under every loader. */
export const named: ReadonlyArray<Named> = Object.entries<unknown>(protocol)
  .flatMap(
    ([name, schema]): Array<Named> =>
      Schema.isSchema(schema) && !elsewhere.has(name) && !isUnionOfMessages(name) ? [[name, schema]] : []
  )
  .sort(([a], [b]) => (a < b ? -1 : 1))

export const names: Names = {
  ofSchema: new Map([...ids, ...named.map(([name, schema]): [unknown, string] => [schema, name])]),
  ofJson: new Map(named.map(([name, schema]) => [JSON.stringify(jsonSchemaOf(schema)), name]))
}

/** For the section of a type, which would else be a link to itself. */
export const withoutOwn = (name: string): Names => ({
  ofSchema: names.ofSchema,
  ofJson: new Map([...names.ofJson].filter(([, other]) => other !== name))
})
