import { Effect, Schema } from "effect"
import { type ModelMessage, type ModelRequest, promptTextOf, withoutReminders } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"
import { ArgumentsSchema, type Frame, offeredTool, type Protocol, pieceLength, pieces } from "./Protocol.ts"

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
  output_config: Schema.optional(Schema.Struct({ effort: Schema.optional(Schema.NullOr(Schema.String)) })),
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

/** One user message may hold tool results and a text: it becomes a message for each result, then one for the text. */
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

const decodeRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const system = [textOf(input.system), ...input.messages.map((m) => (m.role === "system" ? textOf(m.content) : ""))]
  const request: ModelRequest = {
    protocol: "anthropic",
    model: input.model,
    effort: input.output_config?.effort ?? "",
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

const frame = (data: { readonly type: string } & Record<string, unknown>, chars = 0): Frame => ({
  bytes: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
  chars
})

/** This protocol counts cached tokens separately from new ones. */
const usageOf = ({ usage }: Reply, outputTokens: number) => ({
  input_tokens: usage.inputTokens - usage.cachedTokens,
  cache_read_input_tokens: usage.cachedTokens,
  cache_creation_input_tokens: 0,
  output_tokens: outputTokens
})

const stopReason = (reply: Reply) =>
  reply.step.cutOff === true ? "max_tokens" : reply.toolCalls.length > 0 ? "tool_use" : "end_turn"

const header = (reply: Reply) => ({ id: reply.id, type: "message", role: "assistant", model: reply.model })

const replyBody = (reply: Reply) => ({
  ...header(reply),
  content: [
    ...(reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...reply.toolCalls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.args }))
  ],
  stop_reason: stopReason(reply),
  stop_sequence: null,
  usage: usageOf(reply, reply.usage.outputTokens)
})

/** The events from `message_start` to `message_stop`. */
const replyFrames = (reply: Reply): ReadonlyArray<Frame> => {
  const length = pieceLength(reply)
  const block = (index: number, content_block: unknown, deltas: ReadonlyArray<readonly [unknown, number]>) => [
    frame({ type: "content_block_start", index, content_block }),
    ...deltas.map(([delta, chars]) => frame({ type: "content_block_delta", index, delta }, chars)),
    frame({ type: "content_block_stop", index })
  ]
  const texts = reply.text === "" ? [] : [reply.text]
  return [
    frame({
      type: "message_start",
      message: { ...header(reply), content: [], stop_reason: null, stop_sequence: null, usage: usageOf(reply, 1) }
    }),
    ...texts.flatMap((text) =>
      block(
        0,
        { type: "text", text: "" },
        pieces(text, length).map((piece) => [{ type: "text_delta", text: piece }, piece.length] as const)
      )
    ),
    ...reply.toolCalls.flatMap((call, i) =>
      block(
        texts.length + i,
        { type: "tool_use", id: call.id, name: call.name, input: {} },
        pieces(JSON.stringify(call.args), length).map(
          (piece) => [{ type: "input_json_delta", partial_json: piece }, piece.length] as const
        )
      )
    ),
    frame({
      type: "message_delta",
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.outputTokens }
    }),
    frame({ type: "message_stop" })
  ]
}

const errorType = (status: number): string => {
  if (status === 429) return "rate_limit_error"
  if (status === 529) return "overloaded_error"
  return status >= 500 ? "api_error" : "invalid_request_error"
}

const errorBody = (status: number, message: string) => ({
  type: "error",
  error: { type: errorType(status), message }
})

/** `POST /v1/messages` and `POST /v1/messages/count_tokens`. */
export const anthropic: Protocol = { decodeRequest, replyBody, replyFrames, errorBody }
