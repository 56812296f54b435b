/**
 * A session as it is stored and exported, `agent-sessions/<id>/session.json`: its metadata and its whole conversation.
 */
import { Message } from "@reprise/agent/message"
import { defined, ForkPoint, RuntimeId, type SessionView } from "@reprise/protocol"
import { Schema } from "effect"

/** Times are ISO 8601 UTC, the cost is in US dollars. Input and output tokens exclude reasoning and cache tokens. */
export const SessionMetadata = Schema.Struct({
  id: Schema.String,
  runId: Schema.String,
  runtime: Schema.String,
  runtimeSessionId: Schema.optionalKey(RuntimeId),
  /** `default`: the runtime's own. */
  model: Schema.String,
  cwd: Schema.String,
  role: Schema.String,
  phase: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  lastMessageAt: Schema.String,
  messageCount: Schema.Int,
  turnCount: Schema.Int,
  toolCallCount: Schema.Int,
  totalInputTokens: Schema.Finite,
  totalOutputTokens: Schema.Finite,
  totalReasoningTokens: Schema.Finite,
  totalCacheReadTokens: Schema.Finite,
  totalCacheWriteTokens: Schema.Finite,
  cost: Schema.Finite,
  status: Schema.String,
  /** Of a fork: the session and the turn after which it begins. */
  forkedFrom: Schema.optionalKey(ForkPoint),
  forkTold: Schema.optionalKey(Schema.String),
  lastStopReason: Schema.optionalKey(Schema.String)
})
export type SessionMetadata = typeof SessionMetadata.Type

export const SessionFile = Schema.Struct({
  id: Schema.String,
  metadata: SessionMetadata,
  messages: Schema.Array(Message),
  /** When the conversation was read from its runtime. */
  savedAt: Schema.String
})
export type SessionFile = typeof SessionFile.Type

/** What was said after the first `messages` messages of another object were. */
const After = Schema.Struct({ object: Schema.String, messages: Schema.Int })

/** A conversation that was saved as far as it had gone: what is new, and where the messages before it are. */
export const TranscriptPart = Schema.Struct({
  messages: Schema.Array(Message),
  savedAt: Schema.String,
  after: Schema.optionalKey(After)
})
export type TranscriptPart = typeof TranscriptPart.Type

export const partText = (part: TranscriptPart): string => JSON.stringify(part)

/** Reads a whole session too: it is a part with nothing before it. */
export const readPart = Schema.decodeUnknownResult(Schema.fromJsonString(TranscriptPart))

export const readSessionFile = Schema.decodeUnknownResult(Schema.fromJsonString(SessionFile))

/** `lastMessageAt` is the session's last activity where the runtime gives its messages no time. */
export const sessionFile = (view: SessionView, messages: ReadonlyArray<Message>, savedAt: string): SessionFile => {
  const { cost, createdAt, directory, phase, role, runId, runtime, sessionId, status, tokens, toolCalls, turns } = view
  const said = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp
  const metadata: SessionMetadata = {
    id: sessionId,
    runId,
    runtime,
    ...defined({ runtimeSessionId: view.runtimeSessionId }),
    model: view.model ?? "default",
    cwd: directory,
    role,
    ...defined({ phase }),
    createdAt,
    lastMessageAt: said ?? view.lastActivityAt,
    messageCount: messages.length,
    turnCount: turns,
    toolCallCount: toolCalls,
    totalInputTokens: tokens.input,
    totalOutputTokens: tokens.output,
    totalReasoningTokens: tokens.reasoning,
    totalCacheReadTokens: tokens.cacheRead,
    totalCacheWriteTokens: tokens.cacheWrite,
    cost,
    status,
    ...defined({ forkedFrom: view.forkedFrom, forkTold: view.forkTold, lastStopReason: view.lastStopReason })
  }
  return { id: sessionId, metadata, messages, savedAt }
}

/** The text that is stored and exported. */
export const sessionFileText = (file: SessionFile): string => `${JSON.stringify(file, null, 2)}\n`
