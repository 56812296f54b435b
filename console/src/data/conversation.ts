/** Which messages of a conversation are there at first. Pure. */
import type { Message } from "@reprise/agent/message"

/** The newest ones; there may be thousands. */
const mostAtFirst = 40
/** Characters of all of them: each message is read as markdown. */
const mostWords = 100_000

const wordsOf = ({ content }: Message): number =>
  content.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0)

/** The first of the newest messages that are shown; the newest one is always shown. */
export const firstShown = (messages: ReadonlyArray<Message>): number => {
  let words = 0
  const oldest = Math.max(0, messages.length - mostAtFirst)
  const tooMany = messages.findLastIndex((message, index) => {
    words += wordsOf(message)
    return index < messages.length - 1 && words > mostWords
  })
  return Math.max(oldest, tooMany + 1)
}
