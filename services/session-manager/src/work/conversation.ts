/** What a conversation shows. Pure. */
import type { Message } from "@reprise/agent"

export const textOf = (message: Message | undefined): string =>
  (message?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")

/** Whether the agent was given the prompt. */
export const holdsPrompt = (messages: ReadonlyArray<Message>, prompt: string): boolean =>
  messages.some((message) => message.role === "user" && textOf(message).trim() === prompt.trim())
