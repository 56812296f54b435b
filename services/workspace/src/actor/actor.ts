/** The Workspace actor: one per run, keyed by run id. */
import type { Actor } from "@reprise/actor"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { commands, subscription, type WorkspaceInput } from "./inputs.ts"
import { JournalEvent } from "./journal.ts"
import { react } from "./react.ts"
import { initial, type WorkspaceState } from "./state.ts"
import { view } from "./view.ts"
import type { WorkspaceWork } from "./work.ts"

export const workspaceActor: Actor<WorkspaceState, WorkspaceInput, JournalEvent, WorkspaceWork> = {
  service: "workspace",
  commands,
  subscription,
  journal: JournalEvent,
  initial,
  decide,
  evolve,
  react,
  runOf: (state) => state.runId,
  view,
  snapshotVersion: 1
}
