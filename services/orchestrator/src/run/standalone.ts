/**
 * A standalone session, one without a plan, is a run with one phase, no quality gates and no reviewer
 * (docs/design/sessions.md#standalone-sessions). `Run.standalone` says what it was asked to do; wherever such a run
 * differs from one of a plan, a function named for the difference looks at it.
 */
import { defaultRunOptions, PhaseId, type RunOptions, type Step } from "@reprise/protocol"
import type { InputOf } from "./inputs.ts"
import type { EventOf, RunEvent } from "./journal.ts"
import type { Run } from "./state.ts"

type StartStandaloneRun = InputOf<"StartStandaloneRun">

const longestTitle = 80

/** Steps and visits are not limited: each of them is a human's choice. The limits of turns are those of the request. */
const optionsOf = ({
  model,
  permissions,
  prompts = {},
  runtime,
  stuckAfterMs,
  variant
}: StartStandaloneRun): RunOptions => ({
  ...defaultRunOptions,
  runtime,
  ...(model === undefined ? {} : { model }),
  author: { rules: [], ...(variant === undefined ? {} : { variant }) },
  permissions,
  prompts,
  limits: {
    ...defaultRunOptions.limits,
    maxStepVisits: Number.MAX_SAFE_INTEGER,
    maxStepsPerRun: Number.MAX_SAFE_INTEGER,
    ...(stuckAfterMs === undefined ? {} : { stuckAfterMs })
  }
})

/** The session's task as a run of one phase. */
export const standaloneRequested = (standalone: StartStandaloneRun, at: string): EventOf<"RunRequested"> => {
  const { directory, prompt, runId } = standalone
  const title = (prompt.trim().split("\n")[0] ?? "").slice(0, longestTitle)
  return {
    _tag: "RunRequested",
    request: {
      _tag: "StartRun",
      runId,
      plan: prompt,
      planPath: "",
      workspace: directory,
      options: optionsOf(standalone)
    },
    planId: runId,
    phases: [{ id: PhaseId.make("1"), title, done: false, tasks: [] }],
    standalone,
    at
  }
}

/** For an agent that worked outside of its turns and is idle again. */
export const idleAgain = `You have worked in this session since you stopped to ask a human, and are idle again. Do no further work now.

Report on the state of the task, complete and true.`

/**
 * Where a run is when it records an event, for the tables of the run machine: a standalone session begins as one that is
 * prepared, and is complete with its only phase.
 */
export const stepInTables = ({ standalone, step }: Run, { _tag }: RunEvent): Step | undefined => {
  if (standalone === undefined) return step
  return _tag === "RunCompleted" ? "PHASE_COMPLETE" : (step ?? "PREPARE")
}
