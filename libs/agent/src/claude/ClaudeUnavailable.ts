/** How Claude fails to be there. Each says what to do next. */
import { Schema } from "effect"

export class ClaudeNotInstalled extends Schema.TaggedError<ClaudeNotInstalled>()("ClaudeNotInstalled", {
  /** What is missing, in words. */
  looked: Schema.String
}) {
  override get message() {
    return `The Claude agent SDK is not installed (${this.looked}). Install it with npm i @anthropic-ai/claude-agent-sdk`
  }
}

/** The adapter's own files, or Claude's transcripts, cannot be read or written. */
export class ClaudeStateFault extends Schema.TaggedError<ClaudeStateFault>()("ClaudeStateFault", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const why = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.operation} failed: ${why}. Are the state directory and Claude's own writable?`
  }
}
