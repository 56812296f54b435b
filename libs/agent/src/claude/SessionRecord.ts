/**
 * What Claude does not keep of a session: its mode, and which uuids its prompts were sent with. One file for each
 * session in the state directory, written before the first prompt and before every try with another uuid.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { replaceFile } from "@reprise/process"
import { PermissionMode } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { ClaudeStateFault } from "./ClaudeUnavailable.ts"

const Prompted = Schema.Struct({
  messageId: Schema.String,
  /** The prompt's uuid, then those of its continuations. */
  uuids: Schema.NonEmptyArray(Schema.String),
  aborted: Schema.optionalKey(Schema.Boolean),
  /** A human refused a tool or dismissed a question in the latest try. */
  refused: Schema.optionalKey(Schema.Boolean),
  /** The latest try ended at the limit of agent turns. */
  limited: Schema.optionalKey(Schema.Boolean)
})
export type Prompted = typeof Prompted.Type

const SessionRecord = Schema.Struct({
  version: Schema.Literal(1),
  id: Schema.String,
  directory: Schema.String,
  title: Schema.String,
  permissions: PermissionMode,
  model: Schema.optionalKey(Schema.String),
  /** Claude has written a transcript: without it the session is lost. */
  begun: Schema.Boolean,
  prompts: Schema.Array(Prompted),
  /** Requests that were allowed for good, as `requestKey` names them. */
  allowed: Schema.Array(Schema.String)
})
export type SessionRecord = typeof SessionRecord.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(SessionRecord))

const uuidFormat = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const fileOf = (stateDirectory: string, id: string) => join(stateDirectory, "claude", "sessions", `${id}.json`)

/** None for an id that is not one of ours; what is no uuid never becomes a path. */
export const readRecord = (stateDirectory: string, id: string): Effect.Effect<Option.Option<SessionRecord>> =>
  uuidFormat.test(id)
    ? Effect.promise(() => readFile(fileOf(stateDirectory, id), "utf8").then(decode, () => Option.none()))
    : Effect.succeedNone

export const writeRecord = (stateDirectory: string, record: SessionRecord): Effect.Effect<void, ClaudeStateFault> =>
  Effect.tryPromise({
    try: () => replaceFile(fileOf(stateDirectory, record.id), JSON.stringify(record)),
    catch: (cause) => new ClaudeStateFault({ operation: "Writing the record of a session", cause })
  })

export const findPrompted = (record: SessionRecord, messageId: string): Prompted | undefined =>
  record.prompts.find((it) => it.messageId === messageId)

/** The record with the prompt added or replaced. */
export const withPrompted = (record: SessionRecord, prompted: Prompted): SessionRecord => {
  const at = record.prompts.findIndex((it) => it.messageId === prompted.messageId)
  return { ...record, prompts: record.prompts.toSpliced(at === -1 ? record.prompts.length : at, 1, prompted) }
}

/** The record with what is known of the prompt changed, if it was ever sent. */
export const changePrompted =
  (messageId: string, change: Partial<Prompted>) =>
  (record: SessionRecord): SessionRecord => {
    const prompted = findPrompted(record, messageId)
    return prompted === undefined ? record : withPrompted(record, { ...prompted, ...change })
  }

/** The prompt's own id for a uuid that is ours; the uuid itself for another's. */
export const nameOf =
  (record: SessionRecord) =>
  (uuid: string): string =>
    record.prompts.find((it) => it.uuids.includes(uuid))?.messageId ?? uuid
