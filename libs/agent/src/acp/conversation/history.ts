/** A conversation in the messages that every runtime shares. Pure. */
import type { LastMessage } from "../../AgentRuntimeShape.ts"
import type { ContentBlock, Message } from "../../Message.ts"
import { toolInput } from "../../toolInput.ts"
import { type Caused, type Entry, partsOf } from "./Conversation.ts"
import { goOnText } from "./marker.ts"

type Answer = Caused["answer"][number]

const blocksOf = (entry: Answer): ReadonlyArray<ContentBlock> => {
  if (entry.kind === "text") return [{ type: "text", text: entry.text }]
  const use: ContentBlock = {
    type: "tool_use",
    tool_use: { id: entry.id, name: entry.title, input: toolInput(entry.input) }
  }
  const ended = entry.status === "completed" || entry.status === "failed"
  if (!ended) return [use]
  const result = { toolUseId: entry.id, output: entry.output, isError: entry.status === "failed" }
  return [use, { type: "tool_result", tool_result: result }]
}

/** A message ends with its text: what an agent does after it said something is another message. */
const messagesOf = (answer: ReadonlyArray<Answer>): ReadonlyArray<ReadonlyArray<Answer>> => {
  const messages: Array<Array<Answer>> = []
  let previous: Answer | undefined
  for (const entry of answer) {
    if (previous === undefined || previous.kind === "text") messages.push([entry])
    else messages.at(-1)?.push(entry)
    previous = entry
  }
  return messages
}

/** The ids are the same each time the conversation is read. Prompts that only continue a turn that was cut off are left out. */
export const historyOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Message> => {
  const counts = new Map<string, number>()
  const nextId = (cause: string, role: string) => {
    const n = counts.get(`${cause} ${role}`) ?? 0
    counts.set(`${cause} ${role}`, n + 1)
    return role === "user" && n === 0 ? cause : `${cause}-${role === "user" ? "more" : "answer"}-${n}`
  }
  return partsOf(entries).flatMap(({ answer, cause, user: { entry, mark } }): ReadonlyArray<Message> => {
    const text = mark?.text ?? entry.text
    const said: ReadonlyArray<Message> =
      mark !== undefined && text === goOnText
        ? []
        : [{ id: nextId(cause, "user"), role: "user", content: [{ type: "text", text }] }]
    return [
      ...said,
      ...messagesOf(answer).map(
        (message): Message => ({ id: nextId(cause, "answer"), role: "assistant", content: message.flatMap(blocksOf) })
      )
    ]
  })
}

/** What a prompt and all that continued it has brought. `text`: of the last message. */
export const answerTo = (entries: ReadonlyArray<Entry>, messageId: string) => {
  const parts = partsOf(entries)
  const own = parts.filter((part) => part.own && part.cause === messageId)
  const last = own.at(-1)
  const text = last?.answer.findLast((entry) => entry.kind === "text")
  return {
    text: text?.kind === "text" ? text.text : "",
    toolCalls: own.flatMap(({ answer }) => answer).filter(({ kind }) => kind === "tool").length,
    spokenAfter: last !== undefined && parts.slice(parts.indexOf(last) + 1).some((part) => part.cause !== messageId)
  }
}

/** How many messages the agent has written. */
export const answerCount = (entries: ReadonlyArray<Entry>): number =>
  historyOf(entries).filter(({ role }) => role === "assistant").length

/** `finished`: whether the turn of a prompt has ended, which updates do not tell. */
export const lastMessageOf = (
  entries: ReadonlyArray<Entry>,
  finished: (messageId: string) => boolean,
  atMs: number
): { readonly lastMessage?: LastMessage } => {
  const last = historyOf(entries).at(-1)
  const part = partsOf(entries).at(-1)
  if (last === undefined || part === undefined) return {}
  if (last.role === "user") return { lastMessage: { id: last.id, role: "user", finished: true, atMs } }
  return {
    lastMessage: {
      id: last.id,
      role: "assistant",
      causePromptId: part.cause,
      // Nobody tells when the turn of somebody else's prompt ends; what is replayed of it is over.
      finished: !part.own || finished(part.cause),
      atMs
    }
  }
}
