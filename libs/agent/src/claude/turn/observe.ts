/** Turns the messages of a running query into the port's events. */
import { addTokens, defined, noTokens, type Tokens } from "@reprise/protocol"
import type { Evidence, RuntimeEvent } from "../../RuntimeEvent.ts"
import type { TextPiece } from "../../TextThrottle.ts"
import { toolArgument } from "../../toolArgument.ts"
import { kindOfRetry, wordsOfRetry } from "../failures.ts"
import {
  type AssistantMessage,
  isAssistant,
  isRetry,
  isStreamed,
  isToolUse,
  type SdkMessage,
  type StreamedMessage
} from "../sdk/SdkContract.ts"
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

const told = (words: ReadonlyArray<TextPiece>, at: At): ReadonlyArray<RuntimeEvent> =>
  words.map((some) => ({ type: "words", ...at, ...some }))

/** What was written and has not been told. */
export const heldWords = (live: LiveTurn, at: At): ReadonlyArray<RuntimeEvent> => told(live.words.flush(), at)

/** A piece of a text. Subagents write for the agent, which says what it makes of it. */
const written = (
  { event, parent_tool_use_id: writer }: StreamedMessage,
  live: LiveTurn,
  at: At,
  nowMs: number
): ReadonlyArray<RuntimeEvent> => {
  if (writer !== null || event.type !== "content_block_delta") return []
  const part = `${live.writing.get(writer) ?? ""}-${event.index}`
  if (event.delta.type === "text_delta") return told(live.words.add(part, "text", event.delta.text, nowMs), at)
  return event.delta.type === "thinking_delta"
    ? told(live.words.add(part, "reasoning", event.delta.thinking, nowMs), at)
    : []
}

const evidenceOf = (delta: string): Evidence => {
  if (delta === "thinking_delta") return "reasoning"
  return delta === "text_delta" ? "text" : "tool"
}

/** A part of an answer while it is written. */
const streamed = (message: StreamedMessage, live: LiveTurn, at: At, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  const { event, parent_tool_use_id: writer } = message
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
      return [...working(live, at, evidenceOf(event.delta.type), nowMs), ...written(message, live, at, nowMs)]
    case "message_delta":
      live.use(live.writing.get(writer) ?? "", { output: event.usage.output_tokens })
      return [{ type: "progress", ...at, tokens: totalOf(live) }]
    default:
      return []
  }
}

const answered = (
  { error, message }: AssistantMessage,
  live: LiveTurn,
  at: At,
  nowMs: number
): ReadonlyArray<RuntimeEvent> => {
  // Claude writes this message itself when the vendor failed: it is not work.
  if (error !== undefined) return []
  const tools = message.content.filter(isToolUse)
  const tokens = totalOf(live)
  return [
    ...told(live.words.flush(), at),
    ...working(live, at, tools.length > 0 ? "tool" : "text", nowMs),
    ...tools.map(({ input, name }): RuntimeEvent => {
      const argument = toolArgument(input)
      return { type: "progress", ...at, tool: name, ...defined({ argument }), tokens }
    })
  ]
}

/** Updates the turn with a message and returns its events. `nowMs` is the time at which the message arrived. */
export const observe = (message: SdkMessage, live: LiveTurn, at: At, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  if (isStreamed(message)) return streamed(message, live, at, nowMs)
  if (isAssistant(message)) return answered(message, live, at, nowMs)
  if (message.type === "tool_progress") return working(live, at, "tool", nowMs)
  if (!isRetry(message)) return []
  const { attempt, error, error_status: status, retry_delay_ms: retryAfterMs } = message
  const kind = kindOfRetry(error, status)
  const words = wordsOfRetry(error, status)
  const sinceMs = live.retrying?.sinceMs ?? nowMs
  live.retrying = { attempt, kind, message: words, untilMs: nowMs + retryAfterMs, sinceMs }
  return [{ type: "failed", ...at, kind, message: words, recovering: true, retryAfterMs }]
}
