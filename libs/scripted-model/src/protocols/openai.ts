import { Effect, Option, Schema } from "effect"
import { type ModelMessage, type ModelRequest, promptTextOf, withoutReminders } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"
import { ArgumentsSchema, type Frame, offeredTool, type Protocol, pieceLength, pieces } from "./Protocol.ts"

/** A text, or parts; parts that are not text, such as images, are left out. */
const Part = Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) })
const Content = Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Part)]))

const Message = Schema.Struct({
  role: Schema.Literals(["system", "developer", "user", "assistant", "tool"]),
  content: Schema.optional(Content),
  tool_call_id: Schema.optional(Schema.String),
  tool_calls: Schema.optional(
    Schema.NullOr(
      Schema.Array(
        Schema.Struct({
          id: Schema.String,
          function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
        })
      )
    )
  )
})

const Body = Schema.Struct({
  model: Schema.String,
  reasoning_effort: Schema.optional(Schema.NullOr(Schema.String)),
  stream: Schema.optional(Schema.NullOr(Schema.Boolean)),
  stream_options: Schema.optional(Schema.NullOr(Schema.Struct({ include_usage: Schema.optional(Schema.Boolean) }))),
  messages: Schema.Array(Message),
  tools: Schema.optional(
    Schema.NullOr(
      Schema.Array(
        Schema.Struct({
          function: Schema.Struct({ name: Schema.String, parameters: Schema.optional(ArgumentsSchema) })
        })
      )
    )
  )
})

const decodeBody = Schema.decodeUnknownEffect(Body, { errors: "all" })
const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const textOf = (content: typeof Content.Type | undefined): string =>
  typeof content === "string"
    ? content
    : (content ?? []).flatMap((part) => (part.text === undefined ? [] : [part.text])).join("\n")

const toMessage = (message: typeof Message.Type): ReadonlyArray<ModelMessage> => {
  const text = textOf(message.content)
  switch (message.role) {
    case "system":
    case "developer":
      return []
    case "user":
      return [{ role: "user", text: withoutReminders(text) }]
    case "tool":
      return [{ role: "tool", callId: message.tool_call_id ?? "", text }]
    case "assistant":
      return [
        {
          role: "assistant",
          text,
          toolCalls: (message.tool_calls ?? []).map((call) => ({
            callId: call.id,
            tool: call.function.name,
            args: Option.getOrElse(decodeJson(call.function.arguments), () => call.function.arguments)
          }))
        }
      ]
  }
}

const decodeRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const request: ModelRequest = {
    protocol: "openai",
    model: input.model,
    effort: input.reasoning_effort ?? "",
    session,
    stream: input.stream === true,
    includeUsage: input.stream_options?.include_usage === true,
    system: input.messages
      .flatMap((message) =>
        message.role === "system" || message.role === "developer" ? [textOf(message.content)] : []
      )
      .join("\n"),
    messages: input.messages.flatMap(toMessage),
    tools: (input.tools ?? []).map((tool) => offeredTool(tool.function.name, tool.function.parameters)),
    promptText: promptTextOf(body)
  }
  return request
})

const frame = (data: unknown, chars = 0): Frame => ({ bytes: `data: ${JSON.stringify(data)}\n\n`, chars })

const usageOf = ({ usage }: Reply) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: { cached_tokens: usage.cachedTokens }
})

const finishReason = (reply: Reply) =>
  reply.step.cutOff === true ? "length" : reply.toolCalls.length > 0 ? "tool_calls" : "stop"

const replyBody = (reply: Reply, createdSeconds: number) => ({
  id: reply.id,
  object: "chat.completion",
  created: createdSeconds,
  model: reply.model,
  choices: [
    {
      index: 0,
      finish_reason: finishReason(reply),
      message: {
        role: "assistant",
        content: reply.text === "" ? null : reply.text,
        ...(reply.toolCalls.length === 0
          ? {}
          : {
              tool_calls: reply.toolCalls.map((call) => ({
                id: call.id,
                type: "function",
                function: { name: call.name, arguments: JSON.stringify(call.args) }
              }))
            })
      }
    }
  ],
  usage: usageOf(reply)
})

/** A usage chunk ends the stream when the client asked for one. */
const replyFrames = (reply: Reply, request: ModelRequest, createdSeconds: number): ReadonlyArray<Frame> => {
  const base = { id: reply.id, object: "chat.completion.chunk", created: createdSeconds, model: reply.model }
  const delta = (delta: unknown, chars = 0, finish_reason: string | null = null) =>
    frame({ ...base, choices: [{ index: 0, delta, finish_reason }] }, chars)
  const length = pieceLength(reply)
  return [
    delta({ role: "assistant", content: "" }),
    ...pieces(reply.text, length).map((piece) => delta({ content: piece }, piece.length)),
    ...reply.toolCalls.flatMap((call, index) => [
      delta({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
      ...pieces(JSON.stringify(call.args), length).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }, piece.length)
      )
    ]),
    delta({}, 0, finishReason(reply)),
    ...(request.includeUsage ? [frame({ ...base, choices: [], usage: usageOf(reply) })] : []),
    { bytes: "data: [DONE]\n\n", chars: 0 }
  ]
}

const errorBody = (status: number, message: string) => ({
  error: {
    message,
    type: status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error"
  }
})

/** `POST /v1/chat/completions`. */
export const openai: Protocol = { decodeRequest, replyBody, replyFrames, errorBody }
