/** A conversation as an agent tells it, in updates: while a turn runs, and as a whole when a session is loaded. Pure. */
import type { ContentBlock, SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk"
import { type Marked, readMark } from "./marker.ts"

export type Entry =
  | { readonly kind: "user"; readonly id: string | undefined; readonly text: string }
  | { readonly kind: "text"; readonly id: string | undefined; readonly text: string }
  | {
      readonly kind: "tool"
      readonly id: string
      readonly title: string
      readonly input: unknown
      readonly status: string
      readonly output: string
    }

/** What Gemini told its model of the folder, which it tells as if somebody had said it. */
const isOwnContext = (text: string): boolean => text.startsWith("<session_context>")

type ToolEntry = Extract<Entry, { kind: "tool" }>
type SpokenKind = "user" | "text"

const textOf = (content: ContentBlock): string => (content.type === "text" ? content.text : `[${content.type}]`)

const outputOf = (content: ReadonlyArray<ToolCallContent>): string =>
  content.flatMap((part) => (part.type === "content" ? [textOf(part.content)] : [])).join("")

export class Conversation {
  readonly #entries: Array<Entry> = []

  get entries(): ReadonlyArray<Entry> {
    return this.#entries
  }

  /** Adds what a client said, which an agent does not tell while it works on it. */
  say(text: string): void {
    this.#entries.push({ kind: "user", id: undefined, text })
  }

  apply(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
        this.#speak("user", update.messageId ?? undefined, textOf(update.content))
        break
      case "agent_message_chunk":
        this.#speak("text", update.messageId ?? undefined, textOf(update.content))
        break
      case "tool_call":
      case "tool_call_update":
        this.#use(update.toolCallId, update)
        break
    }
  }

  /** Pieces with the same id are one message; so are neighbours without an id. Some agents tell empty pieces, which say nothing. */
  #speak(kind: SpokenKind, id: string | undefined, text: string): void {
    if (text === "" || (kind === "user" && isOwnContext(text))) return
    const last = this.#entries.at(-1)
    if (last?.kind === kind && last.id === id) {
      this.#entries[this.#entries.length - 1] = { ...last, text: last.text + text }
      return
    }
    this.#entries.push({ kind, id, text })
  }

  #use(
    id: string,
    update: {
      readonly title?: string | null
      readonly rawInput?: unknown
      readonly status?: string | null
      readonly content?: ReadonlyArray<ToolCallContent> | null
    }
  ): void {
    const at = this.#entries.findLastIndex((entry) => entry.kind === "tool" && entry.id === id)
    const known = this.#entries[at]
    const before: ToolEntry =
      known?.kind === "tool" ? known : { kind: "tool", id, title: "", input: undefined, status: "pending", output: "" }
    const next: ToolEntry = {
      ...before,
      title: update.title ?? before.title,
      input: update.rawInput ?? before.input,
      status: update.status ?? before.status,
      output: update.content ? outputOf(update.content) : before.output
    }
    this.#entries.splice(at === -1 ? this.#entries.length : at, 1, next)
  }
}

/** A part of a conversation that one prompt caused, with what continued it. */
export interface Caused {
  /** The prompt's own id, else one that is the same each time the conversation is read. */
  readonly cause: string
  /** Whether Reprise said it. */
  readonly own: boolean
  readonly user: { readonly entry: Extract<Entry, { kind: "user" }>; readonly mark: Marked | undefined }
  readonly answer: ReadonlyArray<Exclude<Entry, { kind: "user" }>>
}

/** One part for each thing that was said to the agent, in order. */
export const partsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<Caused> => {
  const parts: Array<Caused & { answer: Array<Exclude<Entry, { kind: "user" }>> }> = []
  for (const entry of entries) {
    if (entry.kind === "user") {
      const mark = readMark(entry.text)
      const cause = mark?.messageId ?? entry.id ?? `said-${parts.length}`
      parts.push({ cause, own: mark !== undefined, user: { entry, mark }, answer: [] })
    } else parts.at(-1)?.answer.push(entry)
  }
  return parts
}

/** Whether the agent was given the prompt. */
export const holds = (entries: ReadonlyArray<Entry>, messageId: string): boolean =>
  partsOf(entries).some((part) => part.own && part.cause === messageId)

/** Whether nothing was said to the agent after this prompt and what continued it. */
export const endsWith = (entries: ReadonlyArray<Entry>, messageId: string): boolean =>
  partsOf(entries).at(-1)?.cause === messageId
