import { Schema } from "effect"

const Parts = Schema.Struct({
  tools: Schema.optional(Schema.Unknown),
  system: Schema.optional(Schema.Unknown),
  messages: Schema.Array(Schema.Unknown)
})
const decodeParts = Schema.decodeUnknownSync(Parts)

/** Cache marks move from message to message and are no part of what a model reads. */
const withoutCacheMarks = (key: string, value: unknown): unknown => (key === "cache_control" ? undefined : value)
const print = (value: unknown): string => JSON.stringify(value ?? null, withoutCacheMarks)

/** A request's tools, system prompt and messages as one text, in the order in which a provider's cache reads them. */
export const promptTextOf = (body: unknown): string => {
  const parts = decodeParts(body)
  return [print(parts.tools), print(parts.system), ...parts.messages.map(print)].join("\n")
}

/** Tokens of a text, as everybody's rule of thumb has it: four characters each. */
export const countTokens = (text: string): number => Math.ceil(text.length / 4)

/** Tokens of the longest common beginning of two prompts: what a provider's cache would have served. */
export const commonPrefixTokens = (before: string, now: string): number => {
  const limit = Math.min(before.length, now.length)
  let length = 0
  while (length < limit && before.charCodeAt(length) === now.charCodeAt(length)) length++
  return Math.floor(length / 4)
}
