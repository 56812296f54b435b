/** Converts OpenCode's messages to messages that every runtime shares. Pure. */
import type { Part } from "@opencode-ai/sdk/v2/client"
import type { ContentBlock, Message } from "../../Message.ts"
import { toolInput } from "../../toolInput.ts"
import type { Listed } from "./turnOf.ts"

const blocksOf = (part: Part): ReadonlyArray<ContentBlock> => {
  if (part.type === "text") return part.ignored === true ? [] : [{ type: "text", text: part.text }]
  if (part.type !== "tool") return []
  const { state } = part
  const input = toolInput(state.input)
  const call: ContentBlock = { type: "tool_use", tool_use: { id: part.callID, name: part.tool, input } }
  const result = (output: string, isError: boolean): ContentBlock => ({
    type: "tool_result",
    tool_result: { toolUseId: part.callID, output, isError }
  })
  if (state.status === "completed") return [call, result(state.output, false)]
  return state.status === "error" ? [call, result(state.error, true)] : [call]
}

/** A tool call that was cut off has no result. Messages without text and tool calls are left out. */
export const historyOf = (messages: ReadonlyArray<Listed>): ReadonlyArray<Message> =>
  messages.flatMap(({ info, parts }) => {
    const content = parts.flatMap(blocksOf)
    const timestamp = new Date(info.time.created).toISOString()
    return content.length === 0 ? [] : [{ id: info.id, role: info.role, content, timestamp }]
  })
