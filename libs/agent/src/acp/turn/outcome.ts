/** How a prompt ended and what it used, as an agent tells it. Pure. */
import { noTokens, type Tokens } from "@reprise/protocol"
import { Option, Schema } from "effect"
import type { StopReason } from "../../AgentRuntimeShape.ts"

const Counts = Schema.Struct({
  input_tokens: Schema.optionalKey(Schema.Finite),
  output_tokens: Schema.optionalKey(Schema.Finite)
})

/** `usage` is told by most agents, and not part of the protocol's stable version. Gemini has words of its own for it. */
const Answer = Schema.Struct({
  stopReason: Schema.String,
  usage: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({
        inputTokens: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
        outputTokens: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
        thoughtTokens: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
        cachedReadTokens: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
        cachedWriteTokens: Schema.optionalKey(Schema.NullOr(Schema.Finite))
      })
    )
  ),
  _meta: Schema.optionalKey(
    Schema.NullOr(
      Schema.Struct({ quota: Schema.optionalKey(Schema.Struct({ token_count: Schema.optionalKey(Counts) })) })
    )
  )
})

const decode = Schema.decodeUnknownOption(Answer)

export interface PromptEnd {
  /** In the agent's own words. */
  readonly finish: string
  readonly tokens: Tokens
}

/** Undefined: the answer is none that the protocol knows. */
export const promptEnd = (answer: unknown): PromptEnd | undefined => {
  const decoded = decode(answer)
  if (Option.isNone(decoded)) return undefined
  const { _meta, stopReason, usage } = decoded.value
  const counts = _meta?.quota?.token_count
  return {
    finish: stopReason,
    tokens: usage
      ? {
          input: usage.inputTokens ?? 0,
          output: usage.outputTokens ?? 0,
          reasoning: usage.thoughtTokens ?? 0,
          cacheRead: usage.cachedReadTokens ?? 0,
          cacheWrite: usage.cachedWriteTokens ?? 0
        }
      : { ...noTokens, input: counts?.input_tokens ?? 0, output: counts?.output_tokens ?? 0 }
  }
}

/** `cancelled` is not an outcome: why it happened is known to whoever cancelled. */
export const stopReasonOf = (finish: string): StopReason => {
  if (finish === "end_turn") return "finished"
  return finish === "max_tokens" || finish === "max_turn_requests" ? "output-limit" : "other"
}
