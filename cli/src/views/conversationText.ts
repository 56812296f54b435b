/** What was said in a session as text for people. It is made safe. Pure. */
import type { ContentBlock, Conversation, Message } from "@reprise/agent/message"
import { visible } from "../terminal/visible.ts"

const longestOutput = 2_000

const truncated = (text: string): string =>
  text.length <= longestOutput
    ? text
    : `${text.slice(0, longestOutput)}\n… ${text.length - longestOutput} more characters`

/** Untrusted text below a title. */
export const indented = (text: string): string =>
  visible(truncated(text))
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n")

const blockText = (block: ContentBlock): string => {
  switch (block.type) {
    case "text":
      return indented(block.text)
    case "tool_use":
      return indented(`▸ ${block.tool_use.name} ${JSON.stringify(block.tool_use.input)}`)
    case "tool_result":
      return indented(`${block.tool_result.isError ? "✗" : "◂"} ${block.tool_result.output}`)
  }
}

export type MessageTitle = (role: Message["role"], timestamp: string | undefined) => string

const plainTitle: MessageTitle = (role, timestamp) => `${role}${timestamp === undefined ? "" : ` ${timestamp}`}`

/** Each message below a title of Reprise; every untrusted line is indented, so that none looks like a title. */
export const conversationText = ({ messages }: Pick<Conversation, "messages">, title = plainTitle): string =>
  messages.flatMap(({ content, role, timestamp }) => [title(role, timestamp), ...content.map(blockText)]).join("\n")
