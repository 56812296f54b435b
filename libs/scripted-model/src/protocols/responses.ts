import { Effect, Option, Schema } from "effect"
import { type ModelMessage, type ModelRequest, promptTextOf, withoutReminders } from "../player/ModelRequest.ts"
import type { Reply } from "../player/Reply.ts"
import { openai } from "./openai.ts"
import { ArgumentsSchema, type Frame, offeredTool, type Protocol, pieceLength, pieces } from "./Protocol.ts"

/** A text, or parts; parts that are not text, such as images, are left out. */
const Part = Schema.Struct({ type: Schema.String, text: Schema.optionalKey(Schema.String) })
const Content = Schema.NullOr(Schema.Union([Schema.String, Schema.Array(Part)]))

/** An entry of the conversation: a message (which may go without a type), a call, its output, or what only the model reads. */
const Item = Schema.Struct({
  type: Schema.optional(Schema.String),
  role: Schema.optional(Schema.Literals(["system", "developer", "user", "assistant"])),
  content: Schema.optional(Content),
  call_id: Schema.optional(Schema.String),
  name: Schema.optional(Schema.String),
  arguments: Schema.optional(Schema.String),
  output: Schema.optional(Schema.Unknown)
})

/** Tools that the vendor runs itself have no name. */
const Tool = Schema.Struct({
  type: Schema.String,
  name: Schema.optional(Schema.String),
  parameters: Schema.optional(Schema.NullOr(ArgumentsSchema))
})

const Body = Schema.Struct({
  model: Schema.String,
  stream: Schema.optional(Schema.NullOr(Schema.Boolean)),
  reasoning: Schema.optional(Schema.NullOr(Schema.Struct({ effort: Schema.optional(Schema.NullOr(Schema.String)) }))),
  instructions: Schema.optional(Schema.NullOr(Schema.String)),
  input: Schema.Union([Schema.String, Schema.Array(Item)]),
  prompt_cache_key: Schema.optional(Schema.NullOr(Schema.String)),
  tools: Schema.optional(Schema.NullOr(Schema.Array(Tool)))
})

const decodeBody = Schema.decodeUnknownEffect(Body, { errors: "all" })
const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const isContent = Schema.is(Content)

const textOf = (content: unknown): string => {
  if (content === undefined || content === null) return ""
  if (!isContent(content)) return JSON.stringify(content)
  return typeof content === "string"
    ? content
    : (content ?? []).flatMap((part) => (part.text === undefined ? [] : [part.text])).join("\n")
}

const isSystem = ({ role }: typeof Item.Type): boolean => role === "system" || role === "developer"

const toMessage = (item: typeof Item.Type): ReadonlyArray<ModelMessage> => {
  switch (item.type ?? "message") {
    case "message": {
      if (isSystem(item)) return []
      const text = textOf(item.content)
      if (item.role === "assistant") return [{ role: "assistant", text, toolCalls: [] }]
      const said = withoutReminders(text)
      return said === "" ? [] : [{ role: "user", text: said }]
    }
    case "function_call": {
      const given = item.arguments ?? ""
      const args = Option.getOrElse(decodeJson(given), () => given)
      return [{ role: "assistant", text: "", toolCalls: [{ callId: item.call_id ?? "", tool: item.name ?? "", args }] }]
    }
    case "function_call_output":
      return [{ role: "tool", callId: item.call_id ?? "", text: textOf(item.output) }]
    default:
      return []
  }
}

/** A reply of the model comes back as one item for its text and one for each call: together they are one message. */
const joined = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<ModelMessage> => {
  const all: Array<ModelMessage> = []
  for (const message of messages) {
    const last = all.at(-1)
    if (last?.role !== "assistant" || message.role !== "assistant") {
      all.push(message)
      continue
    }
    const text = [last.text, message.text].filter((part) => part !== "").join("\n")
    all[all.length - 1] = { role: "assistant", text, toolCalls: [...last.toolCalls, ...message.toolCalls] }
  }
  return all
}

const decodeRequest = Effect.fnUntraced(function* (body: unknown, session: string) {
  const input = yield* decodeBody(body)
  const items = typeof input.input === "string" ? [{ role: "user" as const, content: input.input }] : input.input
  const system = [input.instructions ?? "", ...items.map((item) => (isSystem(item) ? textOf(item.content) : ""))]
  const request: ModelRequest = {
    protocol: "responses",
    model: input.model,
    effort: input.reasoning?.effort ?? "",
    session: session === "" ? (input.prompt_cache_key ?? "") : session,
    stream: input.stream === true,
    includeUsage: true,
    system: system.filter((text) => text !== "").join("\n"),
    messages: joined(items.flatMap(toMessage)),
    tools: (input.tools ?? []).flatMap(({ name, parameters, type }) =>
      type === "function" && name !== undefined ? [offeredTool(name, parameters ?? undefined)] : []
    ),
    promptText: promptTextOf(body)
  }
  return request
})

const usageOf = ({ usage }: Reply) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: { cached_tokens: usage.cachedTokens },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usage.inputTokens + usage.outputTokens
})

const messageItem = ({ id, text }: Reply) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }]
})

const callItem = ({ args, id, name }: Reply["toolCalls"][number]) => ({
  id: `fc_${id}`,
  type: "function_call",
  status: "completed",
  call_id: id,
  name,
  arguments: JSON.stringify(args)
})

const begun = (reply: Reply, createdSeconds: number) => ({
  id: reply.id,
  object: "response",
  created_at: createdSeconds,
  model: reply.model,
  status: "in_progress",
  output: []
})

const replyBody = (reply: Reply, createdSeconds: number) => ({
  ...begun(reply, createdSeconds),
  status: reply.step.cutOff === true ? "incomplete" : "completed",
  incomplete_details: reply.step.cutOff === true ? { reason: "max_output_tokens" } : null,
  output: [...(reply.text === "" ? [] : [messageItem(reply)]), ...reply.toolCalls.map(callItem)],
  usage: usageOf(reply)
})

interface Event extends Record<string, unknown> {
  readonly type: string
  /** How many characters of the reply it carries. */
  readonly chars?: number
}

const textEvents = (reply: Reply, length: number): ReadonlyArray<Event> => {
  if (reply.text === "") return []
  const item = messageItem(reply)
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  const [part] = item.content
  return [
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    ...pieces(reply.text, length).map((delta) => ({
      type: "response.output_text.delta",
      ...at,
      delta,
      chars: delta.length
    })),
    { type: "response.output_text.done", ...at, text: reply.text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item }
  ]
}

const callEvents = (call: Reply["toolCalls"][number], output_index: number, length: number): ReadonlyArray<Event> => {
  const item = callItem(call)
  const at = { item_id: item.id, output_index }
  return [
    { type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", arguments: "" } },
    ...pieces(item.arguments, length).map((delta) => ({
      type: "response.function_call_arguments.delta",
      ...at,
      delta,
      chars: delta.length
    })),
    { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
    { type: "response.output_item.done", output_index, item }
  ]
}

/** The events from `response.created` to `response.completed`, or to `response.incomplete` at the output limit. */
const replyFrames = (reply: Reply, _: ModelRequest, createdSeconds: number): ReadonlyArray<Frame> => {
  const length = pieceLength(reply)
  const calls = reply.toolCalls.flatMap((call, i) => callEvents(call, i + (reply.text === "" ? 0 : 1), length))
  const response = replyBody(reply, createdSeconds)
  const events: ReadonlyArray<Event> = [
    { type: "response.created", response: begun(reply, createdSeconds) },
    ...textEvents(reply, length),
    ...calls,
    { type: `response.${response.status}`, response }
  ]
  return events.map(({ chars = 0, ...event }, sequence_number) => ({
    bytes: `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    chars
  }))
}

/** `POST /v1/responses`. */
export const responses: Protocol = { decodeRequest, replyBody, replyFrames, errorBody: openai.errorBody }
