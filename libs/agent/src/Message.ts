/** A conversation in a form that every runtime shares: for archives, exports and fresh sessions. */
import { Schema } from "effect"

export const TextBlock = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })

export const ToolUseBlock = Schema.Struct({
  type: Schema.Literal("tool_use"),
  tool_use: Schema.Struct({ id: Schema.String, name: Schema.String, input: Schema.Record(Schema.String, Schema.Json) })
})

/** `toolUseId` is the id of the call that it answers. */
export const ToolResultBlock = Schema.Struct({
  type: Schema.Literal("tool_result"),
  tool_result: Schema.Struct({ toolUseId: Schema.String, output: Schema.String, isError: Schema.Boolean })
})

export const ContentBlock = Schema.Union([TextBlock, ToolUseBlock, ToolResultBlock])
export type ContentBlock = typeof ContentBlock.Type

/** A result follows its call in the same assistant message. Reasoning is not kept. */
export const Message = Schema.Struct({
  /** The runtime's own id of the message. */
  id: Schema.String,
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Array(ContentBlock),
  /** ISO 8601 UTC. */
  timestamp: Schema.optionalKey(Schema.String)
})
export type Message = typeof Message.Type

/** What was said in a session until it was read. */
export const Conversation = Schema.Struct({
  messages: Schema.Array(Message),
  /** ISO 8601 UTC. */
  savedAt: Schema.String
})
export type Conversation = typeof Conversation.Type
