import { Schema } from "effect"
import type { Fault, Step } from "./Script.ts"
import type { NamedToolCall } from "./toolCalls.ts"

/** Tokens as the model reports them; `inputTokens` includes `cachedTokens`. */
export const Usage = Schema.Struct({
  inputTokens: Schema.Int,
  cachedTokens: Schema.Int,
  outputTokens: Schema.Int
})
export type Usage = typeof Usage.Type

/** What is to be sent for one call, templates filled and tools named as the client names them. */
export interface Reply {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly toolCalls: ReadonlyArray<NamedToolCall & { readonly id: string }>
  readonly usage: Usage
  /** Where delays, pieces and holds are read from. */
  readonly step: Step
  /** The fault that applies to this very call, if any. */
  readonly fault: Fault | undefined
}

/** A call that gets no answer: no rule matches, or the rule that does cannot be carried out. */
export interface Refusal {
  readonly outcome: "unmatched" | "invalid"
  readonly message: string
}

/** A frame of a stream and how many characters of the answer it carries. */
export interface Frame {
  readonly bytes: string
  readonly chars: number
}

/** A text in pieces of a length; an empty text has none. */
export const pieces = (text: string, length: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length))

/** How long the pieces of an answer are: as the step says, and short enough to stop where a hold or fault wants it. */
export const pieceLength = (reply: Reply): number => {
  const holdAfter = typeof reply.step.hold === "object" ? reply.step.hold.afterChars : undefined
  const stops = [reply.fault?.disconnectAfterChars, holdAfter].flatMap((at) => (at === undefined || at < 1 ? [] : [at]))
  return Math.max(1, Math.min(reply.step.chunkChars ?? 64, ...stops))
}
