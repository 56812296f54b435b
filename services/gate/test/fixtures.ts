import type { Delivery } from "@reprise/actor"
import { EscalationId, type EscalationOption, PhaseId, RunId, SessionId } from "@reprise/protocol"
import type { InputOf } from "../src/actor/inputs.ts"
import type { JournalEvent } from "../src/actor/journal.ts"

export const escalationId = EscalationId.make("r1-e1")
export const runId = RunId.make("r1")

/** A delivery `minutes` past ten o'clock, addressed to the escalation. */
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
  option("fix", { keys: ["f"], guidance: "optional", agent: true }),
  option("override", { keys: ["o"] }),
  option("abort", { keys: ["q"] })
]

export const question = (more: Partial<InputOf<"RaiseEscalation">> = {}): InputOf<"RaiseEscalation"> => ({
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

export const reply = (
  choice: string,
  more: Partial<InputOf<"AnswerEscalation">> = {}
): InputOf<"AnswerEscalation"> => ({
  _tag: "AnswerEscalation",
  escalationId,
  choice,
  by: "ada",
  via: "cli",
  ...more
})

export const raised = (asked = question()): JournalEvent => ({ _tag: "Raised", at: timeAt(0), question: asked })
