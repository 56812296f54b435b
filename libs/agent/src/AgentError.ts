/** How a runtime says no: one error, told apart by its kind. */
import { Schema } from "effect"

/**
 * `busy`: somebody else's turn runs in the session. `session_missing`: the runtime does not know it. `runtime_gone`:
 * the runtime could not be reached for longer than the grace. `context_overflow`: the conversation is too long even
 * after the runtime shortened it. The kinds that pass by themselves are rate_limited, out_of_credits and no_internet.
 */
export const AgentErrorKind = Schema.Literals([
  "unauthorized",
  "out_of_credits",
  "rate_limited",
  "no_internet",
  "aborted",
  "session_missing",
  "busy",
  "context_overflow",
  "runtime_gone",
  "other"
])
export type AgentErrorKind = typeof AgentErrorKind.Type

export class AgentError extends Schema.TaggedError<AgentError>()("AgentError", {
  kind: AgentErrorKind,
  /** The port's method that failed. */
  operation: Schema.String,
  /** A sentence with the next step, in the words of the model's vendor where it said something. */
  detail: Schema.String,
  /** Whether the same session can be prompted again. */
  sessionUsable: Schema.Boolean,
  /** When the vendor, or the runtime, says trying again makes sense: milliseconds from now. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {
  override get message() {
    return this.detail
  }
}
