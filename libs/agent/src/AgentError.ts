/** The one error of the port. Its kind says what happened. */
import { RuntimeFailure } from "@reprise/protocol"
import { Schema } from "effect"

/** The kinds are those of the one vocabulary of failures; `passesByItself` tells which of them are temporary. */
export type AgentErrorKind = RuntimeFailure

export class AgentError extends Schema.TaggedError<AgentError>()("AgentError", {
  kind: RuntimeFailure,
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

/** The failure of a prompt. */
export const promptFailed = (fields: Omit<ConstructorParameters<typeof AgentError>[0], "operation">) =>
  new AgentError({ operation: "prompt", ...fields })
