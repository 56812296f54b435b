import { Effect, Schema } from "effect"
import { type ModelMessage, type ModelRequest, withoutReminders } from "./ModelRequest.ts"
import { ArgumentsSchema, offeredTool } from "./openaiRequest.ts"
import { promptTextOf } from "./promptText.ts"

const TextBlock = Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) })

const Block = Schema.Struct({
  type: Schema.String,
  text: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.String),
  name: Schema.optionalKey(Schema.String),
  input: Schema.optionalKey(Schema.Unknown),
  tool_use_id: Schema.optionalKey(Schema.String),
  content: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(TextBlock), Schema.Unknown]))
})

const Message = Schema.Struct({
  role: Schema.Literals(["system", "user", "assistant"]),
  content: Schema.Union([Schema.String, Schema.Array(Block)])
})

const Body = Schema.Struct({
  model: Schema.String,
  stream: Schema.optional(Schema.Boolean),
  system: Schema.optional(Schema.Union([Schema.String, Schema.Array(TextBlock)])),
  messages: Schema.Array(Message),
  tools: Schema.optional(
    Schema.Array(Schema.Struct({ name: Schema.String, input_schema: Schema.optional(ArgumentsSchema) }))
  )
})

const decodeBody = Schema.decodeUnknownEffect(Body, { errors: "all" })
const isTextBlocks = Schema.is(Schema.Array(TextBlock))

const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  if (!isTextBlocks(content)) return content === undefined ? "" : JSON.stringify(content)
  return content.flatMap((block) => (block.type === "text" && block.text !== undefined ? [block.text] : [])).join("\n")
}

/** A user message may close tool calls and speak at once: it becomes the results, then the text if there is any. */
const toMessages = (message: typeof Message.Type): ReadonlyArray<ModelMessage> => {
  if (message.role === "system") return []
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content
  const text = textOf(blocks)
  if (message.role === "assistant") {
    const toolCalls = blocks.flatMap((block) =>
      block.type === "tool_use" ? [{ callId: block.id ?? "", tool: block.name ?? "", args: block.input }] : []
    )
    return [{ role: "assistant", text, toolCalls }]
  }
  const results = blocks.flatMap((block) =>
    block.type === "tool_result"
      ? [{ role: "tool" as const, callId: block.tool_use_id ?? "", text: textOf(block.content) }]
      : []
  )
  const spoken = withoutReminders(text)
  return spoken === "" ? results : [...results, { role: "user", text: spoken }]
}

/**
 * Reads a body of `POST /v1/messages` (or of `/v1/messages/count_tokens`).
 * @param session the value of the header `x-claude-code-session-id` or `x-session-id`, or "" without one
 */
export const decodeAnthropicRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const system = [textOf(input.system), ...input.messages.map((m) => (m.role === "system" ? textOf(m.content) : ""))]
  const request: ModelRequest = {
    protocol: "anthropic",
    model: input.model,
    session,
    stream: input.stream === true,
    includeUsage: true,
    system: system.filter((text) => text !== "").join("\n"),
    messages: input.messages.flatMap(toMessages),
    tools: (input.tools ?? []).map((tool) => offeredTool(tool.name, tool.input_schema)),
    promptText: promptTextOf(body)
  }
  return request
})
