/**
 * What every service says alike to agents: that a session goes on, what a human has said, what a review has found
 * (docs/design/sessions.md#untrusted-text).
 */
import type { Item } from "@reprise/protocol"
import { quote } from "./quote.ts"

/** The beginning of every prompt that continues a session. */
export const continueSentence = "Continue the current session and complete all remaining tasks."

/** Stands before the words of a human, the only ones in lines without a mark. */
export const guidanceIntroduction = "The user has provided the following additional guidance:"

/** The end of a prompt: the guidance, unchanged; nothing where there is none. */
export const guidanceText = (texts: ReadonlyArray<string>): string =>
  texts.length === 0 ? "" : `${guidanceIntroduction}\n${texts.join("\n\n")}`

/** Each finding as the reviewer wrote it, in marked lines. */
export const findingLines = (findings: ReadonlyArray<Item>): string =>
  quote(
    findings
      .map(({ id, priority, reason, title }) => `- ${id} [${priority}] ${title}${reason === "" ? "" : `\n  ${reason}`}`)
      .join("\n")
  )
