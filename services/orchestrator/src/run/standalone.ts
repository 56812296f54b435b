/**
 * A standalone session, one without a plan, is a run with one phase, no quality gates and no reviewer
 * (docs/design/sessions.md#standalone-sessions). `Run.standalone` says what it was asked to do. Only this module looks at
 * it: wherever such a run differs from one of a plan, a function here is named for the difference.
 */
import {
  defaultRunOptions,
  defined,
  PhaseId,
  type RunOptions,
  SessionId,
  type Step,
  sessionIdOf,
  type TurnLimits
} from "@reprise/protocol"
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
  ...defined({ model }),
  author: { rules: [], ...defined({ variant }) },
  permissions,
  prompts,
  limits: {
    ...defaultRunOptions.limits,
    maxStepVisits: Number.MAX_SAFE_INTEGER,
    maxStepsPerRun: Number.MAX_SAFE_INTEGER,
    ...defined({ stuckAfterMs })
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

/** Whether it carries out a plan, whose phases, files and reviews agents and humans are told of. */
export const hasPlan = ({ standalone }: Run): boolean => standalone === undefined

/** Whether it has a view, and can be paused and moved. Of a standalone session people see the session and its questions. */
export const isShown = (run: Run): boolean => hasPlan(run)

/** Whether the workspace prepares something for it. A standalone session works in place. */
export const isPrepared = (run: Run): boolean => hasPlan(run)

/** Whether it ends with its session, whoever ends that. No failure of a turn does: a human may still work in it. */
export const livesInSession = (run: Run): boolean => !hasPlan(run)

/** As it was started. */
export const requestOf = ({ request, standalone }: Run) => standalone ?? request

/** Where a run begins that works in place. */
export const placeOfStart = ({ standalone }: EventOf<"RunRequested">): Partial<Run> =>
  standalone === undefined ? {} : { standalone, host: standalone.host, directory: standalone.directory }

/** What the agent is to do, word for word; undefined: what the plan says. */
export const ownTask = ({ standalone }: Run): string | undefined => standalone?.prompt

/** The limits of its turns; undefined: those of the run's options. */
export const ownTurnLimits = ({ standalone }: Run): TurnLimits | undefined => standalone?.limits

/** What the run, or the standalone session, may use in all; 0: off. */
export const budgetsOf = ({ request, standalone }: Run): { readonly tokens: number; readonly cost: number } => {
  const { costBudget, tokenBudget } = request.options.limits
  return standalone === undefined
    ? { tokens: tokenBudget, cost: costBudget }
    : { tokens: standalone.limits.maxTokens ?? 0, cost: standalone.limits.maxCost ?? 0 }
}

/** A standalone session keeps its id, which is the run's, when it starts over. */
export const newSessionId = ({ ids, runId, standalone }: Run): SessionId =>
  standalone === undefined ? sessionIdOf(runId, ids.sessions + 1) : SessionId.make(runId)

/** The run and phase of an event or command. A standalone session has no phase that anybody knows of. */
export const locationOf = (run: Run) => ({
  runId: run.runId,
  ...(run.phase === undefined || !hasPlan(run) ? {} : { phase: run.phase.id })
})

/** The same, and the step. */
export const placeOf = (run: Run, step: Step) => ({ ...locationOf(run), ...(hasPlan(run) ? { step } : {}) })
