/**
 * What is kept of a very long block of a conversation: its beginning and its end, with words between them that say what is
 * missing. So everything that reads conversations, saves, shows and tells them has a bound. Pure.
 */
import type { Schema } from "effect"
import type { ContentBlock, Message } from "./Message.ts"

/** In characters, of one text, one result of a tool, or one argument of a call. */
export const longestBlock = 1024 * 1024

/** A text that is longer is not even kept whole where the agent keeps its conversation, if Reprise can change that. */
export const longestPart = 4 * longestBlock

/** A cut never divides a character outside of the basic plane, which takes two places. */
const isInsidePair = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** For the words between, so that what was cut once is not cut again. */
const wordsRoom = 64

export const boundedText = (text: string, longest = longestBlock): string => {
  if (text.length <= longest) return text
  const half = Math.max(0, Math.floor((longest - wordsRoom) / 2))
  const head = isInsidePair(text, half) ? half - 1 : half
  const from = text.length - half
  const tail = isInsidePair(text, from) ? from + 1 : from
  return `${text.slice(0, head)}\n[Reprise left out ${tail - head} characters here]\n${text.slice(tail)}`
}

const isList = (value: Schema.Json): value is Schema.JsonArray => Array.isArray(value)

const boundedJson = (value: Schema.Json, longest: number): Schema.Json => {
  if (typeof value === "string") return boundedText(value, longest)
  if (typeof value !== "object" || value === null) return value
  return isList(value) ? value.map((one) => boundedJson(one, longest)) : boundedInput(value, longest)
}

const boundedInput = (input: { readonly [name: string]: Schema.Json }, longest: number) =>
  Object.fromEntries(Object.entries(input).map(([name, value]) => [name, boundedJson(value, longest)]))

const boundedBlock = (block: ContentBlock, longest: number): ContentBlock => {
  switch (block.type) {
    case "text":
      return { ...block, text: boundedText(block.text, longest) }
    case "tool_use":
      return { ...block, tool_use: { ...block.tool_use, input: boundedInput(block.tool_use.input, longest) } }
    case "tool_result":
      return { ...block, tool_result: { ...block.tool_result, output: boundedText(block.tool_result.output, longest) } }
  }
}

/** What a user wrote stays as it is: it is compared with what was sent. */
export const boundedMessages = (messages: ReadonlyArray<Message>, longest = longestBlock): ReadonlyArray<Message> =>
  messages.map((message) =>
    message.role === "user"
      ? message
      : { ...message, content: message.content.map((block) => boundedBlock(block, longest)) }
  )
