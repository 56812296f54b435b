/**
 * Messages to and from JSON: the body is the payload alone, the type is in the envelope (docs/design/protocol.md#envelope).
 * Reading never throws: a message that does not fit gives the reason, in the schema's own words.
 */
import {
  contracts,
  decodeMeta,
  type MessageMeta,
  PublicEvent,
  type ServiceName,
  versionProblem
} from "@reprise/protocol"
import { Effect, Result, Schema, SchemaAST } from "effect"
import type { Tagged } from "./Actor.ts"
import type { StoredMessage } from "./broker/Broker.ts"

/** Why a message cannot be read. */
export class Undecodable extends Schema.TaggedError<Undecodable>()("Undecodable", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** The body of a message; a lost body is unreadable for good. */
export const bodyOf = ({ body }: Pick<StoredMessage, "body">) =>
  Effect.catchTag(body, "BodyLost", ({ message }) => Effect.fail(new Undecodable({ reason: message })))

const parseJson = (text: string): Result.Result<unknown, Undecodable> => {
  try {
    return Result.succeed(JSON.parse(text))
  } catch (cause) {
    return Result.fail(new Undecodable({ reason: `The body is not JSON: ${String(cause)}` }))
  }
}

const parseObject = (body: string): Result.Result<object, Undecodable> =>
  Result.flatMap(parseJson(body), (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Result.succeed(value)
      : Result.fail(new Undecodable({ reason: "The body is JSON, but not an object." }))
  )

/**
 * A reader of JSON texts of this schema; compiled once. `Schema.fromJsonString` says the same, and starts a fiber for each
 * text, which costs more than most texts themselves.
 */
export const textReader = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (text: string): Result.Result<A, Undecodable> =>
    Result.flatMap(parseJson(text), (value) =>
      Result.mapError(decode(value), ({ message }) => new Undecodable({ reason: message }))
    )
}

const requiredHeaders = ["ce-id", "ce-type", "ce-source", "ce-subject", "ce-time"]

/** The envelope alone. */
export const readMeta = (header: (name: string) => string): Result.Result<MessageMeta, Undecodable> => {
  const wrong = (problem: string) => new Undecodable({ reason: `The envelope is wrong: ${problem}` })
  const version = versionProblem(header)
  if (version !== undefined) return Result.fail(wrong(version))
  return Result.mapError(decodeMeta(header), (error) => {
    const missing = requiredHeaders.filter((name) => header(name) === "")
    return wrong(missing.length === 0 ? error.message : `it has no header ${missing.join(", ")}.`)
  })
}

/** The members of a union of tagged structs by their type names, however deeply it is nested. */
const membersOf = (ast: SchemaAST.AST): ReadonlyArray<readonly [string, SchemaAST.AST]> => {
  if (SchemaAST.isUnion(ast)) return ast.types.flatMap(membersOf)
  const tag = SchemaAST.isObjects(ast) ? ast.propertySignatures.find(({ name }) => name === "_tag")?.type : undefined
  return tag !== undefined && SchemaAST.isLiteral(tag) ? [[String(tag.literal), ast]] : []
}

/**
 * A reader of bodies of this schema, a union of tagged structs; compiled once. `defaults`: fields that a body may leave
 * out, since its subject or envelope says them.
 */
export const bodyReader = <A>(schema: Schema.Codec<A, unknown>) => {
  // A decoder for each type, so that the reason is about the type that was meant and about no other.
  const known = new Map(
    membersOf(schema.ast).map(([type, ast]) => [type, Schema.decodeUnknownResult(Schema.make<Schema.Codec<A>>(ast))])
  )
  return (
    type: string,
    body: string,
    defaults: Readonly<Record<string, string>> = {}
  ): Result.Result<A, Undecodable> => {
    const decode = known.get(type)
    if (decode === undefined)
      return Result.fail(new Undecodable({ reason: `Messages of type ${type} are not taken here.` }))
    return Result.flatMap(parseObject(body), (payload) => {
      try {
        return Result.mapError(
          decode({ ...defaults, ...payload, _tag: type }),
          (error) => new Undecodable({ reason: `The body does not match ${type}: ${error.message}` })
        )
      } catch (cause) {
        return Result.fail(new Undecodable({ reason: `The body of ${type} cannot be read: ${String(cause)}` }))
      }
    })
  }
}

/** The payload of a message as JSON: everything but its type. */
export const payloadOf = (encoded: Tagged): object => {
  const { _tag, ...payload } = encoded
  return payload
}

const encodeTagged = (encoded: unknown): object =>
  typeof encoded === "object" && encoded !== null && "_tag" in encoded
    ? payloadOf({ ...encoded, _tag: String(encoded._tag) })
    : {}

const encoders = new Map<string, (command: unknown) => unknown>(
  Object.values(contracts).flatMap(({ commands, service }) =>
    Object.entries(commands.cases).map(([type, schema]): [string, (command: unknown) => unknown] => [
      `${service} ${type}`,
      Schema.encodeUnknownSync(schema)
    ])
  )
)

/**
 * The payload of a command. A public one is checked by its schema and throws when it does not match;
 * a private one is plain data that its own service checks when it arrives.
 */
export const encodeCommand = (service: ServiceName, command: Tagged): object => {
  const encode = encoders.get(`${service} ${command._tag}`)
  return encode === undefined ? payloadOf(command) : encodeTagged(encode(command))
}

const encodePublic = Schema.encodeSync(PublicEvent)
/** The payload of a public event; throws when it does not match its schema. */
export const encodeEvent = (event: PublicEvent): object => encodeTagged(encodePublic(event))

/** Reads the body of a public event. */
export const readEvent = bodyReader(PublicEvent)
