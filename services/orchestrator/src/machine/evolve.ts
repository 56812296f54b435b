/** The state after an event: the only place where a run changes. Each family tells what its own events change. */
import { noUsage } from "@reprise/protocol"
import { agentsEvolution } from "../agents/model.ts"
import { authorEvolution } from "../author/evolve.ts"
import { checkpointEvolution } from "../checkpoint/evolve.ts"
import { controlEvolution } from "../control/evolve.ts"
import { usageEvolution } from "../limits/usage.ts"
import { phaseEvolution } from "../phase/evolve.ts"
import { qualityEvolution } from "../quality/gates.ts"
import { questionEvolution } from "../question/evolve.ts"
import { reviewEvolution } from "../review/review.ts"
import { type Evolution, unchanged } from "../run/family.ts"
import type { EventOf, RunEvent, RunEvents } from "../run/journal.ts"
import { placeOfStart } from "../run/standalone.ts"
import { nothing, type RoleUsage, type Run, type RunState, withNotice } from "../run/state.ts"

const unused: RoleUsage = { ...noUsage, turns: 0 }

const newRun = (event: EventOf<"RunRequested">): Run => {
  const { at, phases, planId, planTitle, request } = event
  return {
    _tag: "Run",
    runId: request.runId,
    request,
    ...placeOfStart(event),
    status: "running",
    planId,
    planTitle,
    source: request.plan,
    phases,
    outcomes: [],
    pending: nothing,
    pauseAsked: false,
    prompts: [],
    working: [],
    ledger: [],
    ids: { sessions: 0, turns: 0, escalations: 0 },
    steps: 0,
    granted: { steps: 0, tokens: 0, cost: 0 },
    usage: { author: unused, reviewer: unused },
    phaseUsage: [],
    counted: [],
    savings: [],
    reusing: [],
    subjects: [],
    withdrawn: [],
    sessionsCreated: 0,
    sessionsReused: 0,
    refusals: [],
    notices: [],
    startedAt: at,
    updatedAt: at
  }
}

const evolution: Evolution = {
  ...authorEvolution,
  ...reviewEvolution,
  ...qualityEvolution,
  ...checkpointEvolution,
  ...phaseEvolution,
  ...questionEvolution,
  ...usageEvolution,
  ...controlEvolution,
  ...agentsEvolution,
  Happened: (run, { at }) => ({ ...run, updatedAt: at }),
  Noted: (run, { text }) => withNotice(run, text),
  RunRequested: unchanged
}

const apply = <Tag extends RunEvent["_tag"]>(run: Run, tag: Tag, event: EventOf<Tag>): Run => evolution[tag](run, event)

/** A run after one of its events. */
export const evolveRun = (run: Run, event: RunEvent): Run => apply(run, event._tag, event)

/** A run after several of its events. */
export const runAfter = (run: Run, events: RunEvents): Run => events.reduce(evolveRun, run)

export const evolve = (state: RunState, event: RunEvent): RunState => {
  if (state._tag === "Run") return evolveRun(state, event)
  return event._tag === "RunRequested" ? newRun(event) : state
}
