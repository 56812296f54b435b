import type { Delivery } from "@reprise/actor"
import { EscalationId, type EscalationOption, PhaseId, RunId, SessionId } from "@reprise/protocol"
import type { AnswerEscalation, EscalationEvent, RaiseEscalation } from "../src/domain/messages.ts"

export const escalationId = EscalationId.make("r1-e1")
export const runId = RunId.make("r1")

/** At `minutes` past ten; the key is the escalation's. */
export const at = (minutes: number): Delivery => ({ id: `m${minutes}`, key: escalationId, now: timeAt(minutes) })
export const timeAt = (minutes: number) => new Date(Date.UTC(2026, 0, 2, 10, minutes)).toISOString()

export const option = (name: string, more: Partial<EscalationOption> = {}): EscalationOption => ({
  name,
  label: name,
  keys: [],
  guidance: "none",
  ...more
})

export const stepOptions = [
  option("continue-session", { keys: ["c"], guidance: "optional" }),
  option("fix", { keys: ["f"], guidance: "optional" }),
  option("override", { keys: ["o"] }),
  option("abort", { keys: ["q"] })
]

export const question = (more: Partial<RaiseEscalation> = {}): RaiseEscalation => ({
  _tag: "RaiseEscalation",
  escalationId,
  runId,
  phase: PhaseId.make("2"),
  step: "EXECUTE",
  sessionId: SessionId.make("r1-s1"),
  origin: "author",
  reason: "Which database?",
  options: stepOptions,
  evidence: {},
  ...more
})

export const reply = (choice: string, more: Partial<AnswerEscalation> = {}): AnswerEscalation => ({
  _tag: "AnswerEscalation",
  escalationId,
  choice,
  by: "ada",
  via: "cli",
  ...more
})

export const raised = (asked = question()): EscalationEvent => ({ _tag: "Raised", at: timeAt(0), question: asked })
