/**
 * A link that gives one answer to one question (docs/notifications.md#answers-by-a-link). It names the question, the
 * choice, the channel and its end, and is signed with a key of this machine. It is used up when its question is closed,
 * which the question's journal remembers. Pure.
 */
import { Option, Schema } from "effect"
import type { NoticeQuestion, Notices } from "./Notice.ts"
import { plainText } from "./plainText.ts"

/** Signs a text with a key that the caller has. */
export type Sign = (text: string) => string

export interface AnswerLink {
  readonly escalationId: string
  readonly choice: string
  /** Who got it. */
  readonly channel: string
  /** Seconds since 1970. */
  readonly expiresAt: number
}

/** A choice that a message offers, with the link that takes it. */
export interface OfferedAnswer {
  readonly choice: string
  /** For a button. */
  readonly label: string
  readonly url: string
  readonly expiresAt: number
}

export const answerLinkMs = 24 * 60 * 60_000

/** So that nothing else that is signed with the key counts as a link. */
const signedText = (claim: string): string => `reprise-answer-1.${claim}`

const Claim = Schema.StringFromBase64Url.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String, Schema.Int])))
)
const writeClaim = Schema.encodeSync(Claim)
const readClaim = Schema.decodeOption(Claim)

export const issueAnswerLink = ({ channel, choice, escalationId, expiresAt }: AnswerLink, sign: Sign): string => {
  const claim = writeClaim([escalationId, choice, channel, expiresAt])
  return `${claim}.${sign(signedText(claim))}`
}

/** Undefined: this machine did not issue it. `isSame` compares in constant time. */
export const readAnswerLink = (
  text: string,
  sign: Sign,
  isSame: (a: string, b: string) => boolean
): AnswerLink | undefined => {
  const [, claim, signature] = /^([\w-]{1,2000})\.([\w-]{1,100})$/.exec(text) ?? []
  if (claim === undefined || signature === undefined || !isSame(sign(signedText(claim)), signature)) return undefined
  const read = Option.getOrUndefined(readClaim(claim))
  if (read === undefined) return undefined
  const [escalationId, choice, channel, expiresAt] = read
  return { escalationId, choice, channel, expiresAt }
}

export const isExpired = ({ expiresAt }: Pick<AnswerLink, "expiresAt">, nowMs: number): boolean =>
  expiresAt * 1000 <= nowMs

/** Who answers by a link, where nothing else says it: whoever reads the channel. */
export const answererIn = (channel: string): string => `someone in ${channel}`

const longestLabel = 60

/** `continue session (resume the interrupted agent)`: what stands before the explanation. */
const shortLabel = ({ options }: NoticeQuestion, choice: string): string => {
  const { label = choice } = options.find(({ name }) => name === choice) ?? {}
  const explanationAt = label.endsWith(")") ? label.indexOf("(") : -1
  const short = explanationAt === -1 ? label : label.slice(0, explanationAt).trimEnd()
  return plainText(short || label, longestLabel)
}

/** Behind `#`, which no browser sends: the link is in no log of a server on the way. */
const addressOf = (origin: string, link: string): string => `${origin}/answer#${link}`

/** The answers that a message offers: to one open question, and to none that needs words. */
export const offeredAnswers = (
  channel: string,
  [notice, ...others]: Notices,
  origin: string,
  nowMs: number,
  sign: Sign
): ReadonlyArray<OfferedAnswer> => {
  if (others.length > 0 || (notice._tag !== "Raised" && notice._tag !== "Reminder")) return []
  const { question } = notice
  const expiresAt = Math.floor((nowMs + answerLinkMs) / 1000)
  return (question.oneTap ?? []).map((choice) => ({
    choice,
    label: shortLabel(question, choice),
    url: addressOf(origin, issueAnswerLink({ escalationId: question.escalationId, choice, channel, expiresAt }, sign)),
    expiresAt
  }))
}
