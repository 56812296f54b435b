/**
 * What a channel is told: a question was raised, is still open, or needs no answer any more
 * (docs/notifications.md#what-is-sent). It carries what a message needs, so that a later change of the question does not
 * change it. Pure.
 */

import { requestWork } from "@reprise/actor"
import {
  anyHost,
  defined,
  type EscalationCommand,
  EscalationId,
  EscalationOrigin,
  PhaseId,
  RunId,
  Step,
  WithdrawalReason
} from "@reprise/protocol"
import { Schema } from "effect"
import { plainText } from "./plainText.ts"

/** The parts of a question that leave the machine: no output, no changes, no conversation. */
export const NoticeQuestion = Schema.Struct({
  escalationId: EscalationId,
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  origin: EscalationOrigin,
  plan: Schema.optionalKey(Schema.String),
  phaseTitle: Schema.optionalKey(Schema.String),
  reason: Schema.String,
  options: Schema.Array(Schema.Struct({ name: Schema.String, label: Schema.String })),
  /** ISO 8601. */
  raisedAt: Schema.String,
  /** The names of the choices that need no words, so that a link can take them. */
  oneTap: Schema.optionalKey(Schema.Array(Schema.String))
})
export type NoticeQuestion = typeof NoticeQuestion.Type

export const Notice = Schema.TaggedUnion({
  Raised: { question: NoticeQuestion },
  /** Still open; `count`: which reminder this is, from 1. */
  Reminder: { question: NoticeQuestion, count: Schema.Int },
  Answered: { question: NoticeQuestion, choice: Schema.String, by: Schema.String, via: Schema.String },
  Withdrawn: { question: NoticeQuestion, reason: WithdrawalReason },
  /** Sent by `reprise notify test`. */
  Test: { id: Schema.String }
})
export type Notice = typeof Notice.Type
/** A notice about a question. */
export type QuestionNotice = Exclude<Notice, { readonly _tag: "Test" }>

/** Whether it says that a question needs no answer any more. */
export const isClosing = ({ _tag }: Notice): boolean => _tag === "Answered" || _tag === "Withdrawn"

/** What the gate's worker does: it delivers one notice to one channel. */
export const NotifyWork = Schema.TaggedUnion({
  Notify: {
    channel: Schema.String,
    notice: Schema.Union([Notice.cases.Raised, Notice.cases.Reminder, Notice.cases.Answered, Notice.cases.Withdrawn])
  }
})
export type NotifyWork = typeof NotifyWork.Type

const longestReason = 2_000
const longestName = 120
const mostOptions = 20

type Question = Extract<EscalationCommand, { readonly _tag: "RaiseEscalation" }>

export const noticeQuestion = (question: Question, raisedAt: string): NoticeQuestion => {
  const { evidence, options, phase, step } = question
  const { phaseTitle, planPath, planTitle = planPath } = evidence
  const shown = options.slice(0, mostOptions)
  return {
    escalationId: question.escalationId,
    runId: question.runId,
    ...defined({ phase, step }),
    origin: question.origin,
    ...(planTitle === undefined ? {} : { plan: plainText(planTitle, longestName) }),
    ...(phaseTitle === undefined ? {} : { phaseTitle: plainText(phaseTitle, longestName) }),
    reason: plainText(question.reason, longestReason),
    options: shown.map(({ label, name }) => ({
      name: plainText(name, longestName),
      label: plainText(label, longestName)
    })),
    raisedAt,
    // A name that had to be changed for the message would not be found again.
    oneTap: shown
      .filter(({ guidance, name }) => guidance !== "required" && plainText(name, longestName) === name)
      .map(({ name }) => name)
  }
}

/** Asks whichever host delivers notifications to tell each of these channels, in a piece of work for each. */
export const notify = (channels: ReadonlyArray<string>, notice: QuestionNotice) =>
  channels.map((channel) => requestWork<NotifyWork>(anyHost, { _tag: "Notify", channel, notice }))

const kinds = {
  Raised: "raised",
  Reminder: "reminder",
  Answered: "answered",
  Withdrawn: "withdrawn",
  Test: "test"
} as const satisfies Record<Notice["_tag"], string>
export const kindOf = ({ _tag }: Notice) => kinds[_tag]

/** The same for everything that one channel is told of one question: a receiver that can replace a message does so by it. */
export const subjectKeyOf = (channel: string, notice: Notice): string =>
  `${notice._tag === "Test" ? notice.id : notice.question.escalationId}.${channel}`

/** The same at every attempt, and of one question, channel and kind alone: a receiver drops what it has already. */
export const deliveryIdOf = (channel: string, notice: Notice): string => {
  const count = notice._tag === "Reminder" ? `.${notice.count}` : ""
  return `${subjectKeyOf(channel, notice)}.${kindOf(notice)}${count}`
}

/** One notice, or several of one kind for a channel that people read. */
export type Notices = readonly [Notice, ...ReadonlyArray<Notice>]

/** The question's page in the web console; the first page for several; undefined: nobody said how the console is reached. */
export const linkOf = ([first, ...others]: Notices, origin: string | undefined): string | undefined => {
  if (origin === undefined || first._tag === "Test") return undefined
  return others.length > 0 ? origin : `${origin}/questions/${first.question.escalationId}`
}
