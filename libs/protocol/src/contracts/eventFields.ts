/** The fields that public events share: where something happened. Absent fields do not apply. */
import { Schema } from "effect"
import { EscalationId, PhaseId, RunId, SessionId, TurnId } from "../ids.ts"
import { Role, Step } from "../model.ts"

export const at = {
  runId: RunId,
  phase: Schema.optionalKey(PhaseId),
  step: Schema.optionalKey(Step),
  sessionId: Schema.optionalKey(SessionId),
  turnId: Schema.optionalKey(TurnId)
} as const
export const atSession = { ...at, sessionId: SessionId, role: Schema.optionalKey(Role) } as const
export const atTurn = { ...atSession, turnId: TurnId } as const
export const atPhase = { ...at, phase: PhaseId } as const

/**
 * Any service's answer to a command that it does not carry out. It names the turn, session, phase or question that the
 * command named, so that nobody takes it for the answer to a later command.
 */
export const CommandRefused = {
  ...at,
  escalationId: Schema.optionalKey(EscalationId),
  command: Schema.String,
  /** One of the service's refusal codes (`refusals` of its contract). */
  code: Schema.optionalKey(Schema.String),
  /** A sentence with the next step. */
  reason: Schema.String
} as const
