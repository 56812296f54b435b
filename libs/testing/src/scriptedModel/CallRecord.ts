import { Schema } from "effect"
import { Usage } from "./Reply.ts"
import { Kind } from "./Script.ts"

const Message = Schema.Union([
  Schema.Struct({ role: Schema.Literal("user"), text: Schema.String }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    text: Schema.String,
    toolCalls: Schema.Array(Schema.Struct({ callId: Schema.String, tool: Schema.String, args: Schema.Unknown }))
  }),
  Schema.Struct({ role: Schema.Literal("tool"), callId: Schema.String, text: Schema.String })
])

/**
 * A call that reached the scripted model, as `GET /control/calls` and the record file give it.
 * `outcome`: answered by a rule; failed on purpose (a fault); unmatched by any rule; invalid (a rule that cannot be
 * carried out, or a body that is not of the protocol).
 */
export const CallRecord = Schema.Struct({
  /** 1 for the first call of the server. */
  sequence: Schema.Int,
  /** When it arrived, ISO 8601 UTC. */
  at: Schema.String,
  protocol: Schema.Literals(["openai", "anthropic"]),
  model: Schema.String,
  session: Schema.String,
  role: Schema.String,
  kind: Kind,
  phase: Schema.String,
  cycle: Schema.Int,
  /** User messages in the conversation, and rounds of tool calls since the newest. */
  turn: Schema.Int,
  round: Schema.Int,
  lastUser: Schema.String,
  system: Schema.String,
  messages: Schema.Array(Message),
  /** Names of the tools offered. */
  tools: Schema.Array(Schema.String),
  /** Name of the rule that matched (`rule 3` when it has none) and the index of its step; "" when none did. */
  rule: Schema.String,
  step: Schema.Int,
  outcome: Schema.Literals(["answered", "fault", "unmatched", "invalid"]),
  /** Why there was no answer; "" otherwise. */
  problem: Schema.String,
  usage: Usage
})
export type CallRecord = typeof CallRecord.Type
