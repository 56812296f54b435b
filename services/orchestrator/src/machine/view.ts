/** The read model of a run: what `reprise status` shows. */
import { defined, type PhaseView, type RunView } from "@reprise/protocol"
import { agentOf, choiceOf, chosenAuthor } from "../agents/agentOf.ts"
import { awaitedWork } from "../run/awaitedWork.ts"
import { isEnded } from "../run/end.ts"
import type { PlannedPhase } from "../run/journal.ts"
import { ledgerView } from "../run/ledger.ts"
import { isShown } from "../run/standalone.ts"
import { type Run, type RunState, underWay } from "../run/state.ts"

const phaseState = (run: Run, phase: PlannedPhase): PhaseView["state"] => {
  const outcome = run.outcomes.find(({ id }) => id === phase.id)
  if (outcome !== undefined) return outcome.by === "override" ? "overridden" : "completed"
  if (phase.done) return "done-before"
  if (run.phase?.id !== phase.id || isEnded(run)) return "pending"
  return run.status === "waiting" ? "waiting" : "running"
}

const phaseView = (run: Run, phase: PlannedPhase): PhaseView => {
  const current = run.phase?.id === phase.id ? run.phase : undefined
  const outcome = run.outcomes.find(({ id }) => id === phase.id)
  const author = chosenAuthor(current)
  const agents = outcome?.agents ?? current?.agents
  const commit = outcome === undefined ? current?.verified : outcome.commit
  return {
    id: phase.id,
    title: phase.title,
    state: phaseState(run, phase),
    ...defined({ commit }),
    reviewCycles: outcome?.reviewCycles ?? current?.reviewCycles ?? 0,
    qualityAttempts: outcome?.gateRuns ?? current?.gateRuns ?? 0,
    ...(author === undefined ? {} : { author: choiceOf(author) }),
    ...defined({ agents }),
    ...(current === undefined ? {} : { continuations: current.continuations })
  }
}

const modelsView = (run: Run): Pick<RunView, "models"> => {
  const { model: author } = agentOf(run, "author")
  const { model: reviewer } = agentOf(run, "reviewer")
  if (author === undefined && reviewer === undefined) return {}
  const models = defined({ author, reviewer })
  return { models }
}

/** Undefined until the run was started, and for a standalone session, which has a view of its own. */
export const runView = (state: RunState): RunView | undefined => {
  if (state._tag === "NoRun" || !isShown(state)) return undefined
  const { attempt, branch, directory, host, pending, phase, planTitle, reason, request, step } = state
  const active = underWay(pending)
  const author = phase?.author?.sessionId
  const waitsFor = awaitedWork(state)
  return {
    runId: state.runId,
    status: state.status,
    planPath: request.planPath,
    ...defined({ planTitle }),
    workspace: request.workspace,
    ...defined({ remote: request.remote, directory, branch, host }),
    ...(phase === undefined ? {} : { phase: phase.id }),
    ...defined({ step, attempt }),
    ...modelsView(state),
    phases: state.phases.map((planned) => phaseView(state, planned)),
    ...(pending._tag === "Answer" ? { escalationId: pending.question.ask.escalationId } : {}),
    ...defined({ reason }),
    notices: state.notices,
    ledger: ledgerView(state.ledger),
    refusals: state.refusals,
    ...defined({ authorSessionId: author }),
    ...(active._tag === "Turn" ? { turnId: active.turnId } : {}),
    ...defined({ waitsFor }),
    auto: request.options.auto,
    steps: state.steps,
    limits: request.options.limits,
    sessionsCreated: state.sessionsCreated,
    sessionsReused: state.sessionsReused,
    usage: state.usage,
    startedAt: state.startedAt,
    updatedAt: state.updatedAt
  }
}
