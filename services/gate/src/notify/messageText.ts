/** What people read in a message about questions. Pure. */
import { whyAsked } from "../whyAsked.ts"
import type { OfferedAnswer } from "./answerLink.ts"
import type { Notices, QuestionNotice } from "./Notice.ts"
import { fitText, plainText } from "./plainText.ts"

/** A message of a chat or telephone. */
export interface MessageText {
  readonly title: string
  readonly text: string
}

const longestTitle = 120
const longestText = 500
/** A batch names so many questions, and counts the others. */
const mostNamed = 10

const titles = {
  Raised: "Reprise needs you",
  Reminder: "Reprise still needs you",
  Answered: "No longer needed",
  Withdrawn: "No longer needed"
} as const

/** Why nobody needs to answer any more. */
export const withdrawals = {
  "agent-working": "The agent continues by itself.",
  superseded: "A newer question of the same run replaces it.",
  "run-ended": "The run has ended."
} as const

/** `Plan, phase 2 (Title)`. */
const placeOf = ({ question: { phase, phaseTitle, plan, runId } }: QuestionNotice): string => {
  const title = phaseTitle === undefined ? "" : ` (${phaseTitle})`
  return `${plan ?? `run ${runId}`}${phase === undefined ? "" : `, phase ${phase}${title}`}`
}

/** Who has answered what. */
export const answeredBy = ({ by, choice, via }: Extract<QuestionNotice, { readonly _tag: "Answered" }>): string =>
  `${plainText(by, 60)} answered '${plainText(choice, 60)}' through ${plainText(via, 60)}.`

const oneLine = (text: string): string => text.replace(/\s+/g, " ")

const detailsOf = (notice: QuestionNotice): ReadonlyArray<string> => {
  const { escalationId, options, raisedAt, reason } = notice.question
  const asked = plainText(reason, longestText)
  switch (notice._tag) {
    case "Raised":
    case "Reminder":
      return [
        ...(notice._tag === "Reminder" ? [`Open since ${raisedAt}.`] : []),
        asked,
        `Choices: ${plainText(options.map(({ name }) => name).join(", "), longestText)}`,
        `Answer: reprise gate answer ${escalationId} CHOICE`
      ]
    case "Answered":
      return [answeredBy(notice), `The question was: ${plainText(oneLine(reason), 200)}`]
    case "Withdrawn":
      return [withdrawals[notice.reason], `The question was: ${plainText(oneLine(reason), 200)}`]
  }
}

const lineOf = (notice: QuestionNotice): string =>
  `• ${placeOf(notice)}: ${plainText(oneLine(notice.question.reason), 120)} (${notice.question.escalationId})`

const batchText = (notices: ReadonlyArray<QuestionNotice>, kind: QuestionNotice["_tag"]): MessageText => {
  const left = notices.length - mostNamed
  const more = left > 0 ? [`and ${left} more`] : []
  return {
    title: `${titles[kind]}: ${notices.length} questions`,
    text: [...notices.slice(0, mostNamed).map(lineOf), ...more, "'reprise gate' shows the open ones."].join("\n")
  }
}

/** One message about these notices, which are of one kind. */
export const messageTextOf = (notices: Notices): MessageText => {
  const [first, ...others] = notices
  if (first._tag === "Test") {
    return {
      title: "Reprise reaches this channel",
      text: "This is a test: nothing waits for you. It was sent by 'reprise notify test'."
    }
  }
  const rest = others.filter((notice) => notice._tag !== "Test")
  if (rest.length > 0) return batchText([first, ...rest], first._tag)
  return {
    title: plainText(oneLine(`${titles[first._tag]}: ${placeOf(first)}`), longestTitle),
    text: detailsOf(first).join("\n")
  }
}

/** Who asks, and where: the same for all that is said of one question. */
export const headlineOf = (notice: QuestionNotice): string =>
  plainText(oneLine(`${whyAsked[notice.question.origin]}: ${placeOf(notice)}`), longestTitle)

/** Title, text, link and answers below each other; of a longer text than that, the beginning. */
export const inOneText = (
  { text, title }: MessageText,
  link: string | undefined,
  longest: number,
  answers: ReadonlyArray<OfferedAnswer> = []
): string => {
  const choices = answers.map(({ label, url }) => `\n\n${label}:\n${url}`).join("")
  const rest = `${link === undefined ? "" : `\n\n${link}`}${choices}`
  return `${title}\n\n${fitText(text, longest - title.length - rest.length, ({ length }) => length)}${rest}`
}
