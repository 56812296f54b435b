/**
 * What agents do not keep about a session: its mode, and what became of its prompts. One file for each session in the state
 * directory, written before a prompt is sent and after its turn has ended.
 */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import { ContextFill, PermissionMode, Role, Tokens } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { AgentError } from "../../AgentError.ts"

const Outcome = Schema.Struct({
  text: Schema.String,
  stopReason: Schema.Literals(["finished", "output-limit", "refused", "other"]),
  tokens: Tokens,
  cost: Schema.Finite,
  toolCalls: Schema.Int,
  model: Schema.optionalKey(Schema.String),
  finish: Schema.optionalKey(Schema.String),
  context: Schema.optionalKey(ContextFill),
  attempts: Schema.optionalKey(Schema.Int)
})

const Prompted = Schema.Struct({
  messageId: Schema.String,
  /** How often something was sent for it: the prompt itself, then what continued its turn. */
  sent: Schema.Int,
  aborted: Schema.optionalKey(Schema.Boolean),
  outcome: Schema.optionalKey(Outcome),
  endedAtMs: Schema.optionalKey(Schema.Finite)
})
export type Prompted = typeof Prompted.Type

export const AcpRecord = Schema.Struct({
  version: Schema.Literal(1),
  id: Schema.String,
  /** The agent's own id of it now: it had lost the first one before anything was said there. Absent: `id`. */
  agentId: Schema.optionalKey(Schema.String),
  directory: Schema.String,
  title: Schema.String,
  /** When the agent had made it. Absent: by an earlier release. */
  createdAtMs: Schema.optionalKey(Schema.Finite),
  permissions: PermissionMode,
  /** Of its newest prompt; what its agent may do in the sandbox follows from it. */
  role: Schema.optionalKey(Role),
  model: Schema.optionalKey(Schema.String),
  prompts: Schema.Array(Prompted)
})
export type AcpRecord = typeof AcpRecord.Type

/** Of a session of many thousand prompts. */
const largestBytes = 256 * 1024 * 1024

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(AcpRecord))

/** An agent chooses its ids: none of them becomes a path. */
const fileOf = (folder: string, id: string) => join(folder, `${createHash("sha256").update(id).digest("hex")}.json`)

/** None for a session that Reprise did not make with this agent. */
export const readRecord = (folder: string, id: string): Effect.Effect<Option.Option<AcpRecord>> =>
  Effect.promise(() =>
    readForeignText(fileOf(folder, id), { largestBytes, follow: false }).then(decode, () => Option.none())
  )

export const writeRecord = (folder: string, record: AcpRecord): Effect.Effect<void, AgentError> =>
  Effect.tryPromise({
    try: () => replaceFile(fileOf(folder, record.id), JSON.stringify(record)),
    catch: (cause) =>
      new AgentError({
        kind: "other",
        operation: "record",
        detail: `Writing the record of a session failed: ${cause instanceof Error ? cause.message : String(cause)}. Check that the state directory is writable.`,
        sessionUsable: true
      })
  })

export const findPrompted = ({ prompts }: AcpRecord, messageId: string): Prompted | undefined =>
  prompts.find((it) => it.messageId === messageId)

/** Whether nothing was ever said in the session, so that a new one of the agent is the same. */
export const isUnprompted = ({ prompts }: AcpRecord): boolean => prompts.every(({ sent }) => sent === 0)

/** The record with the prompt added or changed. */
export const withPrompted = (record: AcpRecord, messageId: string, change: Partial<Prompted>): AcpRecord => {
  const at = record.prompts.findIndex((it) => it.messageId === messageId)
  const next: Prompted = { messageId, sent: 0, ...record.prompts[at], ...change }
  return { ...record, prompts: record.prompts.toSpliced(at === -1 ? record.prompts.length : at, 1, next) }
}
