/** Turns an agent's updates into the port's events. */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import { defined, noTokens } from "@reprise/protocol"
import type { Evidence, RuntimeEvent } from "../../RuntimeEvent.ts"
import type { TextPiece } from "../../TextThrottle.ts"
import { toolArgument } from "../../toolArgument.ts"
import type { LiveTurn, Told } from "../session/AcpSession.ts"

interface At {
  readonly sessionId: string
  readonly causePromptId: string
}

const workingEveryMs = 1000

const working = (live: LiveTurn, at: At, evidence: Evidence, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  if (nowMs - live.workingAtMs < workingEveryMs) return []
  live.workingAtMs = nowMs
  return [{ type: "working", ...at, evidence }]
}

const told = (words: ReadonlyArray<TextPiece>, at: At): ReadonlyArray<RuntimeEvent> =>
  words.map((some) => ({ type: "words", ...at, ...some }))

/** What was written and has not been told. */
export const heldWords = (live: LiveTurn, at: At): ReadonlyArray<RuntimeEvent> => told(live.words.flush(), at)

type Chunk = Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" }>

const written = (chunk: Chunk, live: LiveTurn, at: At, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  const kind = chunk.sessionUpdate === "agent_message_chunk" ? "text" : "reasoning"
  const text = chunk.content.type === "text" ? chunk.content.text : ""
  return [
    ...working(live, at, kind, nowMs),
    ...told(live.words.add(`${chunk.messageId ?? ""}-${kind}`, kind, text, nowMs), at)
  ]
}

/** Keeps the totals that an update tells, whoever caused it. */
export const keepTotals = (update: SessionUpdate, totals: Told): void => {
  if (update.sessionUpdate !== "usage_update") return
  if (update.used > 0) totals.contextTokens = update.used
  if (update.size > 0) totals.contextSize = update.size
  if (update.cost?.currency === "USD") totals.cost = Math.max(totals.cost, update.cost.amount)
}

/** Updates the turn with an update and returns its events. `nowMs` is the time at which it arrived. */
export const observe = (update: SessionUpdate, live: LiveTurn, at: At, nowMs: number): ReadonlyArray<RuntimeEvent> => {
  switch (update.sessionUpdate) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return written(update, live, at, nowMs)
    case "tool_call_update":
    case "tool_call": {
      const before = [...heldWords(live, at), ...working(live, at, "tool", nowMs)]
      const starts = update.status === "in_progress" && !live.toolsTold.has(update.toolCallId)
      if (!starts) return before
      live.toolsTold.add(update.toolCallId)
      const argument = toolArgument(update.rawInput)
      const tool = update.name ?? update.kind ?? update.title ?? "tool"
      return [...before, { type: "progress", ...at, tool, ...defined({ argument }), tokens: noTokens }]
    }
    case "usage_update":
      return [{ type: "progress", ...at, tokens: noTokens, contextTokens: update.used }]
    default:
      return []
  }
}
