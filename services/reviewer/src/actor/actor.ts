/** The Review actor: one per run and phase, keyed by `reviewKey(runId, phase)`. */
import type { Actor } from "@reprise/actor"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { commands, type ReviewInput, subscription } from "./inputs.ts"
import { JournalEvent } from "./journal.ts"
import { react } from "./react.ts"
import { initial, type ReviewState } from "./state.ts"
import { view } from "./view.ts"

export const reviewActor: Actor<ReviewState, ReviewInput, JournalEvent> = {
  service: "reviewer",
  commands,
  subscription,
  journal: JournalEvent,
  initial,
  decide,
  evolve,
  react,
  runOf: (review) => review.runId,
  view,
  snapshotVersion: 5
}
