/**
 * What a fresh session is told of the one it replaces: the saved messages, without the results of tools that no longer
 * hold (sessions: Continue). Pure: whether a file has changed is asked of the caller.
 */
import type { ContentBlock, Message } from "@reprise/agent/message"

type Call = Extract<ContentBlock, { readonly type: "tool_use" }>["tool_use"]

/** Whether the file was changed, or removed, after this time (ISO 8601). */
export type ChangedSince = (path: string, time: string) => boolean

const pathNames = ["filePath", "file_path", "path", "notebook_path"]

/** The file that a call is about; a shell command is about none that is known. */
export const fileOf = ({ input }: Pick<Call, "input">): string | undefined =>
  pathNames.map((name) => input[name]).find((value): value is string => typeof value === "string" && value !== "")

/** Every file that a conversation's tools were used on. */
export const filesOf = (messages: ReadonlyArray<Message>): ReadonlySet<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? (fileOf(block.tool_use) ?? []) : []))
    )
  )

/** Leaves out what we asked for reports and what was answered: a fresh session that reads it would report, not work. */
export const withoutReports = (
  messages: ReadonlyArray<Message>,
  isReportPrompt: (text: string) => boolean
): ReadonlyArray<Message> => {
  let reporting = false
  return messages.filter(({ content, role }) => {
    if (role === "user") reporting = content.some((block) => block.type === "text" && isReportPrompt(block.text))
    return !reporting
  })
}

/**
 * Leaves out each tool result whose call is missing, or whose file has changed since: a result was there by the time
 * of the next message, or of the end. A message that nothing is left of goes too. Calls stay: what was done was done.
 */
export const stillValid = (
  messages: ReadonlyArray<Message>,
  savedAt: string,
  changedSince: ChangedSince
): ReadonlyArray<Message> => {
  const calls = new Map<string, Call>()
  return messages.flatMap((message, index) => {
    const seenAt = messages.slice(index + 1).find(({ timestamp }) => timestamp !== undefined)?.timestamp ?? savedAt
    const content = message.content.filter((block) => {
      if (block.type === "tool_use") calls.set(block.tool_use.id, block.tool_use)
      if (block.type !== "tool_result") return true
      const call = calls.get(block.tool_result.toolUseId)
      if (call === undefined) return false
      const file = fileOf(call)
      return file === undefined || !changedSince(file, seenAt)
    })
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}

const longestResult = 4_000
const longestContext = 100_000

const clipped = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most / 2)}\n[…]\n${text.slice(-most / 2)}`

const blockText = (block: ContentBlock): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "tool_use":
      return `[used ${block.tool_use.name}: ${clipped(JSON.stringify(block.tool_use.input), longestResult)}]`
    case "tool_result": {
      const { isError, output } = block.tool_result
      return `[${isError ? "failed" : "result"}: ${clipped(output, longestResult)}]`
    }
  }
}

/** As text for the fresh session. Of a long conversation the end is told, and that something is missing. */
export const contextText = (messages: ReadonlyArray<Message>): string => {
  const parts = messages.map(({ content, role }) => `--- ${role}\n${content.map(blockText).join("\n")}`)
  const kept: Array<string> = []
  let length = 0
  for (const part of parts.toReversed()) {
    length += part.length + 1
    if (length > longestContext && kept.length > 0) {
      kept.unshift(`--- ${parts.length - kept.length} earlier messages are left out`)
      break
    }
    kept.unshift(clipped(part, longestContext))
  }
  return kept.join("\n")
}
