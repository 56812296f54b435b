/**
 * What an agent does right now, for displays. These messages are told to whoever listens and kept by nobody: who missed
 * one reads the events, which say how it went on (docs/design/protocol.md#subjects-and-streams).
 */
import { Schema } from "effect"
import { VendorFailure } from "../failure.ts"
import { Role, Tokens } from "../model.ts"
import { atTurn } from "./fields.ts"

const where = { ...atTurn, role: Role }

export const LiveMessage = Schema.TaggedUnion({
  /** A piece of what the agent writes, in order. A part is one uninterrupted text. */
  AgentSaid: {
    ...where,
    part: Schema.String,
    kind: Schema.Literals(["text", "reasoning"]),
    text: Schema.String,
    /** Characters left out before this text: the agent wrote faster than anybody reads. Absent: none. */
    omitted: Schema.optionalKey(Schema.Int)
  },
  /** `argument`: what the tool works on, such as a path or a command, shortened. */
  ToolStarted: { ...where, tool: Schema.String, argument: Schema.optionalKey(Schema.String) },
  /** What the turn has used so far; `contextTokens` is the size of its newest model call. */
  UsageSoFar: {
    ...where,
    tokens: Tokens,
    cost: Schema.optionalKey(Schema.Finite),
    contextTokens: Schema.optionalKey(Schema.Finite)
  },
  /** The model's vendor failed, and the runtime tries again by itself, not before `until` (ISO time). */
  VendorAwaited: { ...where, kind: VendorFailure, message: Schema.String, until: Schema.optionalKey(Schema.String) }
})
export type LiveMessage = typeof LiveMessage.Type
export type LiveMessageType = LiveMessage["_tag"]
