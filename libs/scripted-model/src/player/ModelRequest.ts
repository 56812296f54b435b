import { Array as Arr, Schema } from "effect"
import type { ProtocolName } from "../script/Script.ts"

/** One message of a conversation, the same for all protocols. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly toolCalls: ReadonlyArray<RequestedTool> }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

interface RequestedTool {
  readonly callId: string
  readonly tool: string
  readonly args: unknown
}

/** A tool that the client offers, with the argument names from its JSON schema. */
export interface OfferedTool {
  readonly name: string
  readonly properties: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
}

/** A call to the model, the same for all protocols. */
export interface ModelRequest {
  readonly protocol: ProtocolName
  readonly model: string
  /** How much the model is to think, in the client's word; "" when it says nothing. */
  readonly effort: string
  /** The client's session header, or "" when it sends none. */
  readonly session: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly system: string
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools: ReadonlyArray<OfferedTool>
  /** Everything the model would read, in order, as one text. Tokens and cache hits are counted on it. */
  readonly promptText: string
}

/** Text that an agent runtime adds to a user message by itself. */
const reminder = /<(system-reminder|environment_context|current_datetime|session_context)>[\s\S]*?<\/\1>\s*/g

/** A user message without the text that the agent runtime added. */
export const withoutReminders = (text: string): string => text.replace(reminder, "").trim()

/** All user messages of the conversation, oldest first. */
export const userTexts = (request: ModelRequest): ReadonlyArray<string> =>
  request.messages.flatMap((message) => (message.role === "user" ? [message.text] : []))

/** The messages after the newest user message: the turn so far. */
const turnSoFar = (request: ModelRequest): ReadonlyArray<ModelMessage> =>
  request.messages.slice(request.messages.findLastIndex((message) => message.role === "user") + 1)

/** How often the model has called tools in this turn, which is the index of the next step. */
export const roundOf = (request: ModelRequest): number =>
  turnSoFar(request).filter((message) => message.role === "assistant" && message.toolCalls.length > 0).length

/** The results of the newest round of tool calls in this turn, oldest first. */
export const latestToolResults = (request: ModelRequest): ReadonlyArray<string> => {
  const turn = turnSoFar(request)
  return turn
    .slice(turn.findLastIndex((message) => message.role === "assistant" && message.toolCalls.length > 0) + 1)
    .flatMap((message) => (message.role === "tool" ? [message.text] : []))
}

const Parts = Schema.Struct({
  tools: Schema.optional(Schema.Unknown),
  system: Schema.optional(Schema.Unknown),
  messages: Schema.optional(Schema.Array(Schema.Unknown)),
  /** What the protocol `responses` calls the system prompt and the messages. */
  instructions: Schema.optional(Schema.Unknown),
  input: Schema.optional(Schema.Union([Schema.String, Schema.Array(Schema.Unknown)])),
  /** What the protocol `google` calls them. */
  systemInstruction: Schema.optional(Schema.Unknown),
  contents: Schema.optional(Schema.Array(Schema.Unknown))
})
const decodeParts = Schema.decodeUnknownSync(Parts)

/** Cache marks move from message to message, and a model never reads them. */
const withoutCacheMarks = (key: string, value: unknown): unknown => (key === "cache_control" ? undefined : value)
const print = (value: unknown): string => JSON.stringify(value ?? null, withoutCacheMarks)

/** The tools, system prompt and messages of a request as one text, in the order of a provider's prompt cache. */
export const promptTextOf = (body: unknown): string => {
  const { contents, input = [], instructions, systemInstruction, tools, ...parts } = decodeParts(body)
  const { messages = contents ?? Arr.ensure(input), system = instructions ?? systemInstruction } = parts
  return [print(tools), print(system), ...messages.map(print)].join("\n")
}

/** Estimates the tokens of a text: one for four characters. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4)

/** Tokens of the longest common prefix of two prompts, which a provider's cache would have served. */
export const commonPrefixTokens = (before: string, now: string): number => {
  const limit = Math.min(before.length, now.length)
  let length = 0
  while (length < limit && before.charCodeAt(length) === now.charCodeAt(length)) length++
  return Math.floor(length / 4)
}
