import type { Actor } from "@reprise/actor"
import { react } from "./announce.ts"
import { decide, type EscalationState, evolve } from "./Escalation.ts"
import { view } from "./escalationView.ts"
import { EscalationEvent, EscalationInput } from "./messages.ts"

/** Key: escalation id. */
export const escalationActor: Actor<EscalationState, EscalationInput, EscalationEvent> = {
  service: "gate",
  commands: EscalationInput,
  journal: EscalationEvent,
  initial: { status: "none" },
  decide,
  evolve,
  react,
  runOf: (state) => (state.status === "none" ? undefined : state.question?.runId),
  view,
  snapshotVersion: 1
}
