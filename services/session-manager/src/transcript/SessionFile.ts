/**
 * A session as it is kept in the object store and exported as `agent-sessions/<id>/session.json`: what it was, and its
 * whole conversation. Pure.
 */
import { Message } from "@reprise/agent/message"
import type { SessionView } from "@reprise/protocol"
import { Schema } from "effect"

/** Times are ISO 8601 UTC, tokens are counts, the cost is in US dollars. Reasoning and cache tokens are counted apart. */
export const SessionMetadata = Schema.Struct({
  id: Schema.String,
  runId: Schema.String,
  runtime: Schema.String,
  runtimeSessionId: Schema.optionalKey(Schema.String),
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

export const readSessionFile = Schema.decodeUnknownResult(Schema.fromJsonString(SessionFile))

/** `lastMessageAt`: of the conversation, where the runtime tells; else of the session. */
export const sessionFile = (view: SessionView, messages: ReadonlyArray<Message>, savedAt: string): SessionFile => {
  const { cost, createdAt, directory, phase, role, runId, runtime, sessionId, status, tokens, toolCalls, turns } = view
  const said = messages.findLast(({ timestamp }) => timestamp !== undefined)?.timestamp
  const metadata: SessionMetadata = {
    id: sessionId,
    runId,
    runtime,
    ...(view.runtimeSessionId === undefined ? {} : { runtimeSessionId: view.runtimeSessionId }),
    model: view.model ?? "default",
    cwd: directory,
    role,
    ...(phase === undefined ? {} : { phase }),
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
    ...(view.lastStopReason === undefined ? {} : { lastStopReason: view.lastStopReason })
  }
  return { id: sessionId, metadata, messages, savedAt }
}

/** As it is stored and exported. */
export const sessionFileText = (file: SessionFile): string => `${JSON.stringify(file, null, 2)}\n`
