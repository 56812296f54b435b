/** The types of the protocol that have their own section, and the links to them. */
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

/** Schemas of the protocol that are described elsewhere on the page, or not at all. */
const elsewhere = new Set<string>([
  "Key",
  "AuthorTurnId",
  "ReviewerTurnId",
  "ReviewKey",
  "RuntimeId",
  "MessageMeta",
  "BadSubject",
  "ServiceName",
  "RuntimeFailure",
  ...ids.values()
])
const isUnionOfMessages = (name: string) => /(Command|Event)$/.test(name)

export type Named = readonly [name: string, schema: Schema.Top]

/** Sorted by name, because the order of a module's exports differs between loaders. */
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

/** For a type's own section, which would otherwise link to itself. */
export const withoutOwn = (name: string): Names => ({
  ofSchema: names.ofSchema,
  ofJson: new Map([...names.ofJson].filter(([, other]) => other !== name))
})
