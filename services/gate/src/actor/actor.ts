/** The Escalation actor: one per question, keyed by escalation id. */
import type { Actor } from "@reprise/actor"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { EscalationInput } from "./inputs.ts"
import { JournalEvent } from "./journal.ts"
import { react } from "./react.ts"
import { type EscalationState, initial } from "./state.ts"
import { view } from "./view.ts"

export const escalationActor: Actor<EscalationState, EscalationInput, JournalEvent> = {
  service: "gate",
  commands: EscalationInput,
  journal: JournalEvent,
  initial,
  decide,
  evolve,
  react,
  runOf: (state) => (state.status === "none" ? undefined : state.question?.runId),
  view,
  snapshotVersion: 1
}
