/**
 * What Claude does not store about a session: its mode, and the uuids under which its prompts were sent. One file for
 * each session in the state directory, written before the first prompt and before every try with a new uuid.
 */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import { PermissionMode } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { ClaudeStateFault } from "../sdk/ClaudeSdk.ts"

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
  /** Claude has written a transcript; if it disappears, the session is lost. */
  begun: Schema.Boolean,
  prompts: Schema.Array(Prompted)
})
export type SessionRecord = typeof SessionRecord.Type

/** Of a session of many thousand prompts. */
const largestBytes = 256 * 1024 * 1024

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(SessionRecord))

const uuidFormat = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const fileOf = (stateDirectory: string, id: string) => join(stateDirectory, "claude", "sessions", `${id}.json`)

/** None for an unknown id. An id that is not a uuid never becomes a path. */
export const readRecord = (stateDirectory: string, id: string): Effect.Effect<Option.Option<SessionRecord>> =>
  uuidFormat.test(id)
    ? Effect.promise(() =>
        readForeignText(fileOf(stateDirectory, id), { largestBytes, follow: false }).then(decode, () => Option.none())
      )
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

/** Changes what is recorded about a prompt; a prompt that was never sent is left out. */
export const changePrompted =
  (messageId: string, change: Partial<Prompted>) =>
  (record: SessionRecord): SessionRecord => {
    const prompted = findPrompted(record, messageId)
    return prompted === undefined ? record : withPrompted(record, { ...prompted, ...change })
  }

/** The prompt's own id for our uuid; the uuid itself for a prompt of somebody else. */
export const nameOf =
  (record: SessionRecord) =>
  (uuid: string): string =>
    record.prompts.find((it) => it.uuids.includes(uuid))?.messageId ?? uuid

/**
 * The uuid under which Claude knows a prompt: the same for the same prompt in every process.
 * @param messageId the prompt's own id, from `promptIds`
 * @param n 0 for the prompt itself; 1, 2, … for the prompts that continue a turn that was cut off
 * @returns a uuid of version 8: a hash, with the version's and the variant's bits set
 */
export const promptUuid = (messageId: string, n: number): string => {
  const bytes = createHash("sha256").update(`reprise ${n} ${messageId}`).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
