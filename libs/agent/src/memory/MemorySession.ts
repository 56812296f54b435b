/** A session in memory: its messages and its running turn. */
import { addTokens, defined, noTokens, type PermissionMode, type Tokens } from "@reprise/protocol"
import type { Deferred } from "effect"
import type { AgentError } from "../AgentError.ts"
import type { LastMessage, PromptReply, TurnOutcome } from "../AgentRuntimeShape.ts"
import type { ContentBlock, Message } from "../Message.ts"
import type { PendingPrompt } from "../RuntimeEvent.ts"

export interface MemoryMessage {
  readonly message: Message
  readonly cause: string | undefined
  readonly atMs: number
  /** How an assistant message ended; undefined while it is written, and when it was cut off. */
  readonly end: "finished" | "refused" | "aborted" | "failed" | undefined
  readonly tokens: Tokens
  readonly toolCalls: number
}

/** `crashed`: the runtime died during the turn. */
export type TurnEnd = TurnOutcome | AgentError | "crashed"

export interface RunningTurn {
  readonly messageId: string
  readonly end: Deferred.Deferred<TurnEnd>
  waiting: { readonly prompt: PendingPrompt; readonly answer: Deferred.Deferred<PromptReply> } | undefined
}

export const memoryModel = "memory/scripted"

export class MemorySession {
  readonly id: string
  readonly directory: string
  readonly mode: PermissionMode
  readonly messages: Array<MemoryMessage>
  readonly attempts = new Map<string, number>()
  running: RunningTurn | undefined

  constructor(id: string, directory: string, mode: PermissionMode, messages: ReadonlyArray<MemoryMessage> = []) {
    this.id = id
    this.directory = directory
    this.mode = mode
    this.messages = [...messages]
  }

  has(messageId: string): boolean {
    return this.messages.some(({ message }) => message.id === messageId)
  }

  addUser(id: string, text: string, atMs: number): void {
    const message: Message = {
      id,
      role: "user",
      content: [{ type: "text", text }],
      timestamp: new Date(atMs).toISOString()
    }
    this.messages.push({ message, cause: undefined, atMs, end: "finished", tokens: noTokens, toolCalls: 0 })
  }

  /** Replaces the answer to a prompt with its current content. */
  write(cause: string, content: ReadonlyArray<ContentBlock>, rest: Omit<MemoryMessage, "message" | "cause">): void {
    const id = `${cause}-answer-${this.attempts.get(cause) ?? 1}`
    const message: Message = { id, role: "assistant", content, timestamp: new Date(rest.atMs).toISOString() }
    const at = this.messages.findIndex((it) => it.message.id === id)
    this.messages.splice(at === -1 ? this.messages.length : at, 1, { message, cause, ...rest })
  }

  /** The messages up to the end of a prompt's turn; undefined: the session has no such prompt. */
  messagesThrough(prompt: string | undefined): ReadonlyArray<MemoryMessage> | undefined {
    if (prompt === undefined) return this.messages
    if (!this.has(prompt)) return undefined
    const start = this.messages.findIndex(({ message }) => message.id === prompt)
    const end = this.messages.findIndex(({ message }, index) => index > start && message.role === "user")
    return end === -1 ? this.messages : this.messages.slice(0, end)
  }

  answersTo(cause: string): ReadonlyArray<MemoryMessage> {
    return this.messages.filter((it) => it.cause === cause)
  }

  outcomeOf(cause: string): TurnOutcome {
    const answers = this.answersTo(cause)
    const last = answers.at(-1)
    const text = (last?.message.content ?? []).flatMap((it) => (it.type === "text" ? [it.text] : [])).join("")
    return {
      text,
      stopReason: last?.end === "refused" ? "refused" : "finished",
      tokens: answers.map(({ tokens }) => tokens).reduce(addTokens, noTokens),
      cost: 0,
      toolCalls: answers.reduce((sum, { toolCalls }) => sum + toolCalls, 0),
      ...(last === undefined ? {} : { model: memoryModel })
    }
  }

  lastMessage(): LastMessage | undefined {
    const last = this.messages.at(-1)
    if (last === undefined) return undefined
    return {
      id: last.message.id,
      role: last.message.role,
      ...defined({ causePromptId: last.cause }),
      finished: last.end === "finished",
      atMs: last.atMs
    }
  }
}
