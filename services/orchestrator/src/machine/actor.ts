/**
 * The Run actor: one per run, keyed by the run's id. It decides which step comes next, and touches nothing but messages
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
import type { Actor } from "@reprise/actor"
import { OrchestratorCommand, type PublicEvent, type RunView } from "@reprise/protocol"
import { Schema } from "effect"
import { type RunInput, RunReport, subscribed } from "../run/inputs.ts"
import { RunEvent } from "../run/journal.ts"
import { noRun, type RunState } from "../run/state.ts"
import { decide } from "./decide.ts"
import { evolve } from "./evolve.ts"
import { react } from "./react.ts"
import { runLine } from "./runLine.ts"
import { runView } from "./view.ts"
import { workOfRun } from "./workOfRun.ts"

export const runActor: Actor<RunState, RunInput, RunEvent> = {
  service: "orchestrator",
  commands: Schema.Union([OrchestratorCommand, RunReport]),
  subscription: { types: subscribed, route: (event: PublicEvent) => event.runId },
  journal: RunEvent,
  initial: noRun,
  decide,
  evolve,
  react,
  runOf: (state) => (state._tag === "Run" ? state.runId : undefined),
  view: runView,
  line: (shown) => runLine(shown as RunView),
  workOnHost: workOfRun,
  snapshotVersion: 16
}
