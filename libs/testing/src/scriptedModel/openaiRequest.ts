import { Effect, Option, Schema } from "effect"
import { type ModelMessage, type ModelRequest, type OfferedTool, withoutReminders } from "./ModelRequest.ts"
import { promptTextOf } from "./promptText.ts"

/** A content is a text or parts of which the text parts count (images and the like carry no text). */
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

/** The shape both protocols give a tool's arguments in. */
export const ArgumentsSchema = Schema.Struct({
  properties: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)),
  required: Schema.optional(Schema.Array(Schema.String))
})

const Body = Schema.Struct({
  model: Schema.String,
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

/** A tool as offered, from its name and the JSON schema of its arguments. */
export const offeredTool = (name: string, schema: typeof ArgumentsSchema.Type | undefined): OfferedTool => ({
  name,
  properties: Object.keys(schema?.properties ?? {}),
  required: schema?.required ?? []
})

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

/**
 * Reads a body of `POST /v1/chat/completions`.
 * @param session the value of the header `x-session-id`, or "" without one
 */
export const decodeOpenaiRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const request: ModelRequest = {
    protocol: "openai",
    model: input.model,
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
