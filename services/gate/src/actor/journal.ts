/** The journal of an Escalation actor. `at` is when the event was decided, ISO 8601 UTC. */
import { EscalationCommand, EscalationId, RuntimeName, WithdrawalReason } from "@reprise/protocol"
import { Schema } from "effect"
import { ReminderSettings } from "./reminders.ts"

const { RaiseEscalation } = EscalationCommand.cases

/** The question as it is shown: the command that raised it, or updated it last. */
export type Question = typeof RaiseEscalation.Type

const at = Schema.String

export const JournalEvent = Schema.TaggedUnion({
  /** `channels`, `reminders`: who is to be notified and when, as it was configured then; absent: nobody, the defaults. */
  Raised: {
    at,
    question: RaiseEscalation,
    channels: Schema.optionalKey(Schema.Array(Schema.String)),
    reminders: Schema.optionalKey(ReminderSettings)
  },
  /** The question was raised again while open, with other words or evidence. */
  Updated: { at, question: RaiseEscalation },
  Answered: {
    at,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    runtime: Schema.optionalKey(RuntimeName),
    model: Schema.optionalKey(Schema.String),
    variant: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String,
    /** The commit that the answerer was shown. */
    commit: Schema.optionalKey(Schema.String)
  },
  Withdrawn: { at, escalationId: EscalationId, reason: WithdrawalReason },
  /** The run had withdrawn the question before the answer reached it: it went on without the answer. */
  Overruled: { at, reason: WithdrawalReason },
  Reminded: { at, count: Schema.Int },
  /** A channel has the question, or may have it: from now on it is told of reminders and of the end. */
  Told: { at, channel: Schema.String }
})
export type JournalEvent = typeof JournalEvent.Type
export type JournalEventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
