/** Converts Claude's transcript to messages that every runtime shares. Pure. */
import { Option, Schema } from "effect"
import type { ContentBlock, Message } from "../../Message.ts"
import { toolInput } from "../../toolInput.ts"
import { blocksOf, entryOf, isFiller, type Line, readLine, type TranscriptBlock } from "./transcript.ts"

const isTexts = Schema.is(Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.optional(Schema.String) })))

const outputOf = (content: unknown): string => {
  if (typeof content === "string") return content
  return isTexts(content) ? content.map(({ text = "" }) => text).join("\n") : JSON.stringify(content ?? "")
}

const contentOf = (block: TranscriptBlock): ReadonlyArray<ContentBlock> => {
  switch (block.type) {
    case "text":
      return block.text === undefined || block.text === "" ? [] : [{ type: "text", text: block.text }]
    case "tool_use": {
      const { id = "", input, name = "" } = block
      return [{ type: "tool_use", tool_use: { id, name, input: toolInput(input) } }]
    }
    case "tool_result": {
      const { content, is_error: isError = false, tool_use_id: toolUseId = "" } = block
      return [{ type: "tool_result", tool_result: { toolUseId, output: outputOf(content), isError } }]
    }
    default:
      return []
  }
}

interface Draft {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly content: Array<ContentBlock>
  readonly timestamp: string
}

/** Puts a result after its call. A result without a call, as in a shortened conversation, is dropped. */
const addResult = (drafts: ReadonlyArray<Draft>, result: Extract<ContentBlock, { type: "tool_result" }>) => {
  const { toolUseId } = result.tool_result
  for (const { content } of drafts.toReversed()) {
    const at = content.findIndex((block) => block.type === "tool_use" && block.tool_use.id === toolUseId)
    if (at !== -1) return void content.splice(at + 1, 0, result)
  }
}

const add = (drafts: Array<Draft>, line: Line, nameOf: (uuid: string) => string) => {
  const { message, timestamp = "", uuid = "" } = line
  if (message === undefined || isFiller(line) || line.isApiErrorMessage === true) return
  const content = blocksOf(line).flatMap(contentOf)
  const entry = Option.getOrUndefined(entryOf(line))
  if (entry?.kind === "answer") {
    const last = drafts.findLast(({ role }) => role === "assistant")
    if (last?.id === entry.messageId) last.content.push(...content)
    else drafts.push({ id: entry.messageId, role: "assistant", content, timestamp })
    return
  }
  for (const block of content) if (block.type === "tool_result") addResult(drafts, block)
  if (entry?.kind === "prompt") drafts.push({ id: nameOf(uuid), role: "user", content, timestamp })
}

/** @param nameOf gives the prompt's own id for our uuid, and the uuid itself for a prompt of somebody else */
export const historyOf = (transcript: string, nameOf: (uuid: string) => string): ReadonlyArray<Message> => {
  const drafts: Array<Draft> = []
  for (const text of transcript.split("\n")) {
    const line = Option.getOrUndefined(readLine(text))
    if (line !== undefined) add(drafts, line, nameOf)
  }
  return drafts.filter(({ content }) => content.length > 0)
}
