/** The Escalation actor: one per question, keyed by escalation id. */
import type { Actor } from "@reprise/actor"
import type { EscalationView } from "@reprise/protocol"
import type { NotifyWork } from "../notify/Notice.ts"
import { briefView, escalationLine } from "./briefView.ts"
import { decideWith, type GateSettings } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { EscalationInput } from "./inputs.ts"
import { JournalEvent } from "./journal.ts"
import { react } from "./react.ts"
import { defaultReminders } from "./reminders.ts"
import { type EscalationState, initial } from "./state.ts"
import { view } from "./view.ts"

/** `current`: who is notified of a question that is raised now, and when. It is in the question's journal from then on. */
export const escalationActorWith = (
  current: () => GateSettings
): Actor<EscalationState, EscalationInput, JournalEvent, NotifyWork> => ({
  service: "gate",
  commands: EscalationInput,
  journal: JournalEvent,
  initial,
  decide: decideWith(current),
  evolve,
  react,
  runOf: ({ question }) => question?.runId,
  view,
  brief: (shown) => briefView(shown as EscalationView),
  line: (shown) => escalationLine(shown as EscalationView),
  snapshotVersion: 1
})

export const escalationActor = escalationActorWith(() => ({ channels: [], ...defaultReminders }))
