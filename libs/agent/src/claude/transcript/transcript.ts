/**
 * The lines of a Claude transcript from which the state of a conversation follows. Pure. The format is Claude's own and
 * not documented: unknown lines are skipped, and docs/decisions/0009-claude-beside-opencode.md lists what was measured.
 */
import { addTokens, defined, noTokens, type Tokens } from "@reprise/protocol"
import { Option, Schema } from "effect"

/**
 * `answer` is one block of an assistant message: a message of several blocks is several of them with one `messageId`.
 * `error`: the model's vendor failed for good. `interrupted`: somebody stopped the turn. `cost`: what the session has
 * cost so far, written when a process of Claude ends.
 */
export type Entry =
  | { readonly kind: "prompt"; readonly uuid: string; readonly atMs: number }
  | {
      readonly kind: "answer"
      readonly uuid: string
      readonly messageId: string
      readonly atMs: number
      readonly text: string
      readonly toolCalls: number
      /** Absent while the answer is written, and when it was cut off. */
      readonly stopReason?: string
      readonly model?: string
      readonly tokens: Tokens
    }
  | { readonly kind: "result"; readonly atMs: number }
  | { readonly kind: "interrupted"; readonly atMs: number }
  | {
      readonly kind: "error"
      readonly atMs: number
      readonly error: string
      readonly status?: number
      readonly text: string
    }
  | { readonly kind: "cost"; readonly total: number }

const Usage = Schema.Struct({
  input_tokens: Schema.Finite,
  output_tokens: Schema.Finite,
  cache_read_input_tokens: Schema.optional(Schema.NullOr(Schema.Finite)),
  cache_creation_input_tokens: Schema.optional(Schema.NullOr(Schema.Finite)),
  output_tokens_details: Schema.optional(Schema.NullOr(Schema.Struct({ thinking_tokens: Schema.Finite })))
})

const Block = Schema.Struct({
  type: Schema.String,
  text: Schema.optional(Schema.String),
  id: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  input: Schema.optional(Schema.Unknown),
  tool_use_id: Schema.optional(Schema.String),
  content: Schema.optional(Schema.Unknown),
  is_error: Schema.optional(Schema.Boolean)
})

const Line = Schema.Struct({
  type: Schema.String,
  uuid: Schema.optional(Schema.String),
  timestamp: Schema.optional(Schema.String),
  isSidechain: Schema.optional(Schema.Boolean),
  isMeta: Schema.optional(Schema.Boolean),
  isCompactSummary: Schema.optional(Schema.Boolean),
  isApiErrorMessage: Schema.optional(Schema.Boolean),
  error: Schema.optional(Schema.Unknown),
  apiErrorStatus: Schema.optional(Schema.NullOr(Schema.Finite)),
  totalCostUSD: Schema.optional(Schema.Finite),
  message: Schema.optional(
    Schema.Struct({
      id: Schema.optional(Schema.String),
      model: Schema.optional(Schema.String),
      content: Schema.Union([Schema.String, Schema.Array(Block)]),
      stop_reason: Schema.optional(Schema.NullOr(Schema.String)),
      usage: Schema.optional(Usage)
    })
  )
})
export type Line = typeof Line.Type
export type TranscriptBlock = typeof Block.Type

const decodeLine = Schema.decodeUnknownOption(Schema.fromJsonString(Line))
/** Requests, attachments and queue operations: most of a transcript's bytes, and not needed. */
const unread = /^\{"type":"(api-request|attachment|queue-operation)/

/** Decodes a line of the file; none for a line that is not about the conversation. */
export const readLine = (line: string): Option.Option<Line> =>
  line === "" || unread.test(line) ? Option.none() : decodeLine(line)

export const blocksOf = (line: Line): ReadonlyArray<TranscriptBlock> => {
  const content = line.message?.content ?? []
  return typeof content === "string" ? [{ type: "text", text: content }] : content
}

/** Claude writes such a message itself when a session is reopened after a cut; the model did not. */
export const isFiller = (line: Line): boolean =>
  line.message?.model === "<synthetic>" && line.isApiErrorMessage !== true

const interruption = /^\[Request interrupted by user/
/** Claude's own commands, such as `/usage`, and their output. */
const commandEcho = /^<(local-command|command-|bash-)/

export const tokensOf = (usage: typeof Usage.Type | undefined): Tokens => {
  if (usage === undefined) return noTokens
  const reasoning = usage.output_tokens_details?.thinking_tokens ?? 0
  return {
    input: usage.input_tokens,
    output: Math.max(0, usage.output_tokens - reasoning),
    reasoning,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0
  }
}

const textOf = (blocks: ReadonlyArray<TranscriptBlock>): string =>
  blocks.flatMap((block) => (block.type === "text" && block.text !== undefined ? [block.text] : [])).join("")

const userEntry = (line: Line, uuid: string, atMs: number): Option.Option<Entry> => {
  const blocks = blocksOf(line)
  if (blocks.some((block) => block.type === "tool_result")) return Option.some({ kind: "result", atMs })
  const text = textOf(blocks)
  if (interruption.test(text)) return Option.some({ kind: "interrupted", atMs })
  if (line.isMeta === true || line.isCompactSummary === true || commandEcho.test(text)) return Option.none()
  return Option.some({ kind: "prompt", uuid, atMs })
}

const assistantEntry = (line: Line, uuid: string, atMs: number): Option.Option<Entry> => {
  const blocks = blocksOf(line)
  const text = textOf(blocks)
  if (line.isApiErrorMessage === true) {
    const status = line.apiErrorStatus ?? undefined
    const error = typeof line.error === "string" ? line.error : "unknown"
    return Option.some({ kind: "error", atMs, error, text, ...defined({ status }) })
  }
  if (isFiller(line)) return Option.none()
  const stopReason = line.message?.stop_reason ?? undefined
  return Option.some({
    kind: "answer",
    uuid,
    messageId: line.message?.id ?? uuid,
    atMs,
    text,
    toolCalls: blocks.filter((block) => block.type === "tool_use").length,
    tokens: tokensOf(line.message?.usage),
    ...(line.message?.model === undefined ? {} : { model: line.message.model }),
    ...defined({ stopReason })
  })
}

/** The entry of a line; none for lines that are not about the conversation. Subagents have separate files. */
export const entryOf = (line: Line): Option.Option<Entry> => {
  if (line.type === "cost-state") {
    return line.totalCostUSD === undefined ? Option.none() : Option.some({ kind: "cost", total: line.totalCostUSD })
  }
  if (line.uuid === undefined || line.message === undefined) return Option.none()
  const atMs = Date.parse(line.timestamp ?? "")
  if (Number.isNaN(atMs)) return Option.none()
  if (line.type === "user") return userEntry(line, line.uuid, atMs)
  return line.type === "assistant" ? assistantEntry(line, line.uuid, atMs) : Option.none()
}

/** Sums over messages, not blocks: each block of a message carries the usage of the whole message. */
export const tokensIn = (entries: ReadonlyArray<Entry>): Tokens => {
  const messages = new Map<string, Tokens>()
  for (const entry of entries) {
    if (entry.kind !== "answer") continue
    const before = messages.get(entry.messageId)
    if (before === undefined || before.output <= entry.tokens.output) messages.set(entry.messageId, entry.tokens)
  }
  return [...messages.values()].reduce(addTokens, noTokens)
}

/** How many answers the model gave, of which each has one entry or several. */
export const callsIn = (entries: ReadonlyArray<Entry>): number =>
  new Set(entries.flatMap((entry) => (entry.kind === "answer" ? [entry.messageId] : []))).size

export const isConversation = (entry: Entry): boolean => entry.kind !== "cost"
