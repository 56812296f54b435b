/** Turns the messages of a running query into the port's events. */
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk"
import { addTokens, noTokens, type Tokens } from "@reprise/protocol"
import type { Evidence, RuntimeEvent } from "../../RuntimeEvent.ts"
import { kindOfRetry, wordsOfRetry } from "../failures.ts"
import type { LiveTurn } from "../session/LiveTurn.ts"

interface At {
  readonly sessionId: string
  readonly causePromptId: string
}

const workingEveryMs = 1000

const totalOf = (live: LiveTurn): Tokens => [...live.tokens.values()].reduce(addTokens, noTokens)

const working = (live: LiveTurn, at: At, evidence: Evidence, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  live.retrying = undefined
  if (nowMs - live.workingAtMs < workingEveryMs) return []
  live.workingAtMs = nowMs
  return [{ type: "working", ...at, evidence }]
}

type Streamed = Extract<SDKMessage, { type: "stream_event" }>

/** A part of an answer while it is written. */
const streamed = (
  { event, parent_tool_use_id: writer }: Streamed,
  live: LiveTurn,
  at: At,
  nowMs: number
): ReadonlyArray<RuntimeEvent> => {
  switch (event.type) {
    case "message_start": {
      const { id, usage } = event.message
      live.writing.set(writer, id)
      live.use(id, {
        input: usage.input_tokens,
        cacheRead: usage.cache_read_input_tokens ?? 0,
        cacheWrite: usage.cache_creation_input_tokens ?? 0
      })
      return []
    }
    case "content_block_start":
      return event.content_block.type === "thinking" ? working(live, at, "reasoning", nowMs) : []
    case "content_block_delta":
      if (event.delta.type === "thinking_delta") return working(live, at, "reasoning", nowMs)
      return working(live, at, event.delta.type === "text_delta" ? "text" : "tool", nowMs)
    case "message_delta":
      live.use(live.writing.get(writer) ?? "", { output: event.usage.output_tokens })
      return [{ type: "progress", ...at, tokens: totalOf(live) }]
    default:
      return []
  }
}

type Assistant = Extract<SDKMessage, { type: "assistant" }>

const answered = (
  { error, message }: Assistant,
  live: LiveTurn,
  at: At,
  nowMs: number
): ReadonlyArray<RuntimeEvent> => {
  // Claude writes this message itself when the vendor failed: it is not work.
  if (error !== undefined) return []
  const tools = message.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))
  const tokens = totalOf(live)
  return [
    ...working(live, at, tools.length > 0 ? "tool" : "text", nowMs),
    ...tools.map((tool): RuntimeEvent => ({ type: "progress", ...at, tool, tokens }))
  ]
}

/** Updates the turn with a message and returns its events. `nowMs` is the time at which the message arrived. */
export const observe = (message: SDKMessage, live: LiveTurn, at: At, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  if (message.type === "stream_event") return streamed(message, live, at, nowMs)
  if (message.type === "assistant") return answered(message, live, at, nowMs)
  if (message.type === "tool_progress") return working(live, at, "tool", nowMs)
  if (message.type !== "system" || message.subtype !== "api_retry") return []
  const { attempt, error, error_status: status, retry_delay_ms: retryAfterMs } = message
  const kind = kindOfRetry(error, status)
  const words = wordsOfRetry(error, status)
  const sinceMs = live.retrying?.sinceMs ?? nowMs
  live.retrying = { attempt, kind, message: words, untilMs: nowMs + retryAfterMs, sinceMs }
  return [{ type: "failed", ...at, kind, message: words, recovering: true, retryAfterMs }]
}
