/** What a channel is told → the message that a browser gets while no page is open (docs/notifications.md#browsers). Pure. */
import type { PushedQuestion, PushMessage } from "@reprise/protocol"
import { whyAsked } from "../whyAsked.ts"
import { answeredBy, withdrawals } from "./messageText.ts"
import { isClosing, type Notice, type Notices, type QuestionNotice } from "./Notice.ts"
import { fitText, plainText, utf8Size } from "./plainText.ts"

/** What a push service must take is 4096 bytes, of which encryption needs some. */
export const longestPushBytes = 3_993

/** A notice shows no more. */
const longestText = 200
/** A message names so many questions, and counts the others. */
const mostNamed = 10

const textOf = (notice: QuestionNotice): string => {
  switch (notice._tag) {
    case "Answered":
      return answeredBy(notice)
    case "Withdrawn":
      return withdrawals[notice.reason]
    default:
      return plainText(notice.question.reason, longestText)
  }
}

const questionOf = (notice: QuestionNotice): PushedQuestion => ({
  id: notice.question.escalationId,
  title: isClosing(notice) ? "No longer needed" : whyAsked[notice.question.origin],
  text: fitText(textOf(notice), 2 * longestText, utf8Size)
})

const kindOf = (notice: Notice): PushMessage["kind"] => {
  if (isClosing(notice)) return "closed"
  return notice._tag === "Test" ? "test" : notice._tag === "Reminder" ? "reminder" : "raised"
}

const bytesOf = (message: PushMessage): number => Buffer.byteLength(JSON.stringify(message))

/** Names as many of the questions as fit. */
export const pushMessage = (notices: Notices): PushMessage => {
  const questions = notices.flatMap((notice) => (notice._tag === "Test" ? [] : [questionOf(notice)]))
  const naming = (count: number): PushMessage => ({
    version: 1,
    kind: kindOf(notices[0]),
    questions: questions.slice(0, count),
    more: questions.length - count
  })
  let count = Math.min(questions.length, mostNamed)
  while (count > 1 && bytesOf(naming(count)) > longestPushBytes) count -= 1
  return naming(count)
}

/**
 * The same for all that is said of one question: a message that the push service still holds for a browser is replaced by
 * the next. Undefined: a message that replaces none. `digest`: letters, digits, `-` and `_`, 32 at least.
 */
export const pushTopic = ([first, ...others]: Notices, digest: (text: string) => string): string | undefined => {
  if (first._tag === "Test" || others.length > 0) return undefined
  const { escalationId, raisedAt } = first.question
  return digest(`${escalationId} ${raisedAt}`).slice(0, 32)
}
