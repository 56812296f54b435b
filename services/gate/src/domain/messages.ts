/** What the Escalation actor takes besides its public commands, and what it remembers. */
import { EscalationCommand, EscalationId } from "@reprise/protocol"
import { Schema } from "effect"

/** From the actor's own timer. `count`: which reminder this is, from 1. */
const EscalationTimer = Schema.TaggedUnion({ Remind: { escalationId: EscalationId, count: Schema.Int } })

export const EscalationInput = Schema.Union([EscalationCommand, EscalationTimer])
export type EscalationInput = typeof EscalationInput.Type

const { AnswerEscalation, RaiseEscalation, WithdrawEscalation } = EscalationCommand.cases
export type RaiseEscalation = typeof RaiseEscalation.Type
export type AnswerEscalation = typeof AnswerEscalation.Type
export type WithdrawEscalation = typeof WithdrawEscalation.Type
export type Remind = typeof EscalationTimer.cases.Remind.Type

/** The question as it is shown. */
export type Question = RaiseEscalation

const at = Schema.String

/** The journal. `at` is when it was decided, ISO 8601 UTC. */
export const EscalationEvent = Schema.TaggedUnion({
  Raised: { at, question: RaiseEscalation },
  /** The same question was raised again while open, with other words or evidence. */
  Updated: { at, question: RaiseEscalation },
  Answered: {
    at,
    choice: Schema.String,
    guidance: Schema.optionalKey(Schema.String),
    by: Schema.String,
    via: Schema.String
  },
  Withdrawn: { at, escalationId: EscalationId, reason: WithdrawEscalation.fields.reason },
  Reminded: { at, count: Schema.Int }
})
export type EscalationEvent = typeof EscalationEvent.Type
