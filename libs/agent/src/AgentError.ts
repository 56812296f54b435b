/** The one error of the port. Its kind says what happened. */
import { Schema } from "effect"

/**
 * `busy`: another turn runs in the session. `session_missing`: the runtime does not know the session. `runtime_gone`:
 * the runtime was unreachable for longer than the grace. `context_overflow`: the conversation is too long even after the
 * runtime shortened it. rate_limited, out_of_credits and no_internet are temporary.
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
  /** A sentence with the next step, or the message of the model's vendor. */
  detail: Schema.String,
  /** Whether the same session can be prompted again. */
  sessionUsable: Schema.Boolean,
  /** When the vendor or the runtime advises to try again: milliseconds from now. */
  retryAfterMs: Schema.optionalKey(Schema.Finite)
}) {
  override get message() {
    return this.detail
  }
}
