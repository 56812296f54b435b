/** One message of a conversation, the same for both protocols. */
export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly toolCalls: ReadonlyArray<RequestedTool> }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

interface RequestedTool {
  readonly callId: string
  readonly tool: string
  readonly args: unknown
}

/** A tool the client offers, with the names of its arguments as its JSON schema gives them. */
export interface OfferedTool {
  readonly name: string
  readonly properties: ReadonlyArray<string>
  readonly required: ReadonlyArray<string>
}

/** A call to the model, the same for both protocols. */
export interface ModelRequest {
  readonly protocol: "openai" | "anthropic"
  readonly model: string
  /** The client's session header, or "" when it sends none. */
  readonly session: string
  readonly stream: boolean
  readonly includeUsage: boolean
  readonly system: string
  readonly messages: ReadonlyArray<ModelMessage>
  readonly tools: ReadonlyArray<OfferedTool>
  /** Everything the model would read, in order, as one text: the base of token counts and of the prompt cache. */
  readonly promptText: string
}

/** Text that a runtime adds to a user message on its own account. */
const reminder = /<system-reminder>[\s\S]*?<\/system-reminder>\s*/g

/** What a person or Reprise wrote of a user message. */
export const withoutReminders = (text: string): string => text.replace(reminder, "").trim()

/** All user messages of the conversation, oldest first. */
export const userTexts = (request: ModelRequest): ReadonlyArray<string> =>
  request.messages.flatMap((message) => (message.role === "user" ? [message.text] : []))

/** The messages after the newest user message: the turn so far. */
const turnSoFar = (request: ModelRequest): ReadonlyArray<ModelMessage> =>
  request.messages.slice(request.messages.findLastIndex((message) => message.role === "user") + 1)

/** How often the model has called tools in this turn: the number of the step that comes next. */
export const roundOf = (request: ModelRequest): number =>
  turnSoFar(request).filter((message) => message.role === "assistant" && message.toolCalls.length > 0).length

/** The results of the newest round of tool calls in this turn, oldest first. */
export const latestToolResults = (request: ModelRequest): ReadonlyArray<string> => {
  const turn = turnSoFar(request)
  return turn
    .slice(turn.findLastIndex((message) => message.role === "assistant" && message.toolCalls.length > 0) + 1)
    .flatMap((message) => (message.role === "tool" ? [message.text] : []))
}
