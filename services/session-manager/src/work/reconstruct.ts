/**
 * The saved conversation of a lost session as context for the one that replaces it: its messages without the tool
 * results that no longer hold (docs/design/sessions.md#turns).
 */
import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import type { ContentBlock, Message } from "@reprise/agent/message"
import { quote } from "@reprise/plan/quote"
import { Effect } from "effect"
import { withoutReportRequest } from "../prompts.ts"
import { readTranscript, type Transcript } from "./readTranscript.ts"

type Call = Extract<ContentBlock, { readonly type: "tool_use" }>["tool_use"]

/** Whether the file was changed, or removed, after this time (ISO 8601). */
export type ChangedSince = (path: string, time: string) => boolean

const pathNames = ["filePath", "file_path", "path", "notebook_path"]

/** The file that a call reads or writes; those of a shell command are unknown. */
export const fileOf = ({ input }: Pick<Call, "input">): string | undefined =>
  pathNames.map((name) => input[name]).find((value): value is string => typeof value === "string" && value !== "")

/** Every file that the conversation's tools read or wrote. */
export const filesOf = (messages: ReadonlyArray<Message>): ReadonlySet<string> =>
  new Set(
    messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? (fileOf(block.tool_use) ?? []) : []))
    )
  )

/**
 * Leaves out our requests for reports, and the reports that were asked for alone: a new session that reads them would
 * report instead of work. `withoutRequest`: what is left of a prompt, undefined when nothing is.
 */
export const withoutReports = (
  messages: ReadonlyArray<Message>,
  withoutRequest: (text: string) => string | undefined
): ReadonlyArray<Message> => {
  let reporting = false
  return messages.flatMap((message) => {
    if (message.role !== "user") return reporting ? [] : [message]
    const content = message.content.flatMap((block): ReadonlyArray<ContentBlock> => {
      if (block.type !== "text") return [block]
      const text = withoutRequest(block.text)
      return text === undefined ? [] : [{ ...block, text }]
    })
    reporting = content.length === 0 && message.content.length > 0
    return reporting ? [] : [{ ...message, content }]
  })
}

/**
 * Leaves out each tool result whose call is missing, or whose file has changed since the next message (or the end, for
 * the last). Messages that are empty then go too. Calls stay: they happened.
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

/** The conversation as text, with a mark before each line that somebody said. Of a long one the end is kept, with a note that messages are missing. */
export const contextText = (messages: ReadonlyArray<Message>): string => {
  const parts = messages.map(({ content, role }) => `--- ${role}\n${quote(content.map(blockText).join("\n"))}`)
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

/**
 * When the file was last changed, in epoch milliseconds. Commands can set the time of a change (`mtime`) back, as a checkout or a
 * copy may do, but not that of the change of its entry (`ctime`). A missing file counts as changed after every result.
 */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ ctimeMs, mtimeMs }) => Math.max(ctimeMs, mtimeMs),
    () => Number.POSITIVE_INFINITY
  )

/** The messages up to the answers to this prompt; none where it is missing. */
export const messagesThrough = (messages: ReadonlyArray<Message>, promptId: string): ReadonlyArray<Message> => {
  const start = messages.findIndex(({ id }) => id === promptId)
  const next = messages.findIndex(({ role }, index) => index > start && role === "user")
  return start === -1 ? [] : messages.slice(0, next === -1 ? undefined : next)
}

/**
 * What a new session is told of a conversation, as far as it still holds in this directory; undefined: nothing. `savedAt`:
 * when it was read from its runtime.
 */
export const contextOf = Effect.fnUntraced(function* (
  conversation: Pick<Transcript, "messages" | "savedAt">,
  directory: string
) {
  const messages = withoutReports(conversation.messages, withoutReportRequest)
  const times = new Map(
    yield* Effect.forEach(
      filesOf(messages),
      (path) => Effect.promise(async () => [path, await changedAt(resolve(directory, path))] as const),
      { concurrency: 16 }
    )
  )
  const isChanged: ChangedSince = (path, time) => (times.get(path) ?? Infinity) > Date.parse(time)
  const kept = stillValid(messages, conversation.savedAt, isChanged)
  return kept.length === 0 ? undefined : contextText(kept)
})

/** A conversation that cannot be read counts as not saved. */
export const readSaved = (object: string) =>
  Effect.catch(readTranscript(object), (error) =>
    Effect.logWarning(`a saved conversation cannot be read: ${error.message}`).pipe(Effect.as(undefined))
  )

/** undefined: nothing was saved, or none of it can be used. The session is then replaced without it. */
export const readEarlierConversation = Effect.fn("readEarlierConversation")(function* (
  object: string,
  directory: string
) {
  const saved = yield* readSaved(object)
  return saved === undefined ? undefined : yield* contextOf(saved, directory)
})
