/** From an approved phase to the next one (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { defined, type PhaseId } from "@reprise/protocol"
import { Result } from "effect"
import { stepTask } from "../prompt/author.ts"
import { closeReview } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { after, enter, escalate, fresh, type Outcome, outcome, type SessionUse } from "../run/moves.ts"
import { lastVerified, mergeEditedPlan, nextPhase, phaseBegan, reviewFile, toRunPlan } from "../run/plan.ts"
import { locationOf } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { listSome } from "../run/text.ts"
import { leaveDrained } from "./prepareWorkspace.ts"
import { writePhaseSummary, writeSummary } from "./summary.ts"

/**
 * Commits the review file, checks the tree and HEAD, and reads the plan again. `approved`: the commit that HEAD must be;
 * absent: any.
 */
export const finishPhase = (run: Run, phase: PhaseRun, approved?: string): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "FinishPhase",
    runId: run.runId,
    phase: phase.id,
    reviewPath: reviewFile(run, phase),
    planPath: run.request.planPath,
    commits: commitsOf(phase),
    ...defined({ approved })
  }
})

/** Finishes the phase only on the commit that the reviewer has approved. */
export const finishApproved = (run: Run, phase: PhaseRun): RunEvent => finishPhase(run, phase, lastVerified(phase))

/** The commits that the phase's summary names. */
const commitsOf = ({ completedTasks, verified }: PhaseRun): ReadonlyArray<string> => [
  ...new Set([...completedTasks.map(({ commit }) => commit), ...(verified === undefined ? [] : [verified])])
]

/** A ready verdict on a verified commit is enough, unless a human is to approve every phase. */
export const startPhaseGate = (run: Run, phase: PhaseRun): Outcome => {
  const { auto, gates } = run.request.options
  if (auto || gates.phase === "auto") return outcome([finishApproved(run, phase)])
  return outcome([], escalate({ origin: "phase-gate", reason: `Phase ${phase.id} is reviewed and ready. Go on?` }))
}

/** Ends the sessions of the author and the reviewer: the next phase gets fresh ones. */
const releaseSessions = (phase: PhaseRun): RunEvents => [
  ...phase.sessions.map((sessionId): RunEvent => ({ _tag: "SessionReleased", sessionId })),
  ...(phase.reviewCycles === 0 ? [] : [closeReview(phase, false, "the phase is complete")])
]

type Approval = Pick<Extract<RunEvent, { readonly _tag: "PhaseCompleted" }>, "by" | "who" | "guidance">

const completePhase = (run: Run, phase: PhaseRun, approval: Approval): RunEvents => [
  {
    _tag: "StepStarted",
    ...locationOf(run),
    step: "PHASE_COMPLETE",
    attempt: (phase.visits.PHASE_COMPLETE ?? 0) + 1,
    cause: approval.by === "override" ? "override" : "tree-clean"
  },
  {
    _tag: "PhaseCompleted",
    ...locationOf(run),
    phase: phase.id,
    step: "PHASE_COMPLETE",
    ...defined({ commit: phase.verified }),
    ...approval
  },
  ...releaseSessions(phase)
]

/** A human approves the phase as it is. Its tree is still checked, and the plan read again. */
export const overridePhase = (run: Run, phase: PhaseRun, who: string, guidance: string | undefined): RunEvents => [
  ...completePhase(run, phase, { by: "override", who, ...defined({ guidance }) }),
  finishPhase(run, phase)
]

export const phaseFinished = (run: Run, phase: PhaseRun, event: InputOf<"PhaseFinished">): Outcome => {
  const { drained, head, pushed, subjects } = event
  const checked: RunEvent = {
    _tag: "TreeChecked",
    phase: phase.id,
    head,
    dirty: [],
    ...defined({ subjects }),
    ...(drained === true && pushed !== undefined ? { leaves: true } : {})
  }
  const completed = run.step === "PHASE_GATE" ? completePhase(run, phase, { by: "review" }) : []
  return after([checked, ...completed], acceptPlan(run, event.plan))
}

/** A verdict holds for the commit it names: a newer one is verified and reviewed too (docs/design/sessions.md#reviews-reviewer). */
const headMoved = (run: Run, phase: PhaseRun, head: string): Outcome => {
  const base = lastVerified(phase)
  const command = {
    _tag: "VerifyCommit" as const,
    runId: run.runId,
    phase: phase.id,
    commit: head,
    base,
    phaseBase: phaseBegan(phase),
    reviewPath: reviewFile(run, phase)
  }
  return outcome([
    { _tag: "TreeChecked", phase: phase.id, dirty: [], head },
    { _tag: "Noted", text: `HEAD moved from ${base} to ${head} during the review: the new commits are reviewed too.` },
    { _tag: "WorkspaceAsked", command }
  ])
}

/** Before the phase is complete its author can clean up; after an override only the human can. */
export const phaseBlocked = (run: Run, phase: PhaseRun, event: InputOf<"PhaseBlocked">): Outcome => {
  const { dirty, head } = event
  if (head !== undefined && run.step === "PHASE_GATE") return headMoved(run, phase, head)
  const checked: RunEvent = { _tag: "TreeChecked", phase: phase.id, dirty }
  const reason = `The working tree is not clean: ${listSome(dirty)}.`
  if (run.step !== "PHASE_GATE") {
    const request = { origin: "commit" as const, reason, noContinue: "the phase is complete", evidence: { dirty } }
    return outcome([checked], escalate(request))
  }
  return outcome(
    [checked],
    escalate({
      origin: "commit",
      reason,
      retry: { step: "AUTO_FIX" },
      brief: stepTask(run, { ...phase, dirty }, "AUTO_FIX"),
      evidence: { dirty }
    })
  )
}

/** The edited plan must begin with the phases that the run knows. */
const acceptPlan = (run: Run, source: string): Outcome => {
  if (source === run.source) return outcome([], { _tag: "NextPhase" })
  const finished = [...run.outcomes.map(({ id }) => id), ...(run.phase === undefined ? [] : [run.phase.id])]
  const plan = Result.flatMap(toRunPlan(source, run.request.planPath), (now) =>
    mergeEditedPlan(run.phases, now, finished)
  )
  if (Result.isFailure(plan)) {
    const reason = `The plan was edited so that the run cannot go on: ${plan.failure}`
    return outcome([], escalate({ origin: "plan", reason, noContinue: "the phase is complete" }))
  }
  const { changes, phases, planTitle } = plan.success
  const taken = { _tag: "PlanTaken" as const, source, phases, ...defined({ planTitle }) }
  const noted = changes.map((change): RunEvent => ({ _tag: "Noted", text: `The plan was edited: ${change}` }))
  return outcome([taken, ...noted], { _tag: "NextPhase" })
}

/**
 * Writes the summary of the phase that was completed, then starts the next phase that is not approved, on another host if
 * this one is drained. When none is left, writes the summary of the run, which completes it.
 */
export const startNextPhase = (run: Run): Outcome => {
  const completed = run.outcomes.find(({ id, summarised }) => id === run.phase?.id && !summarised)
  if (completed !== undefined) return outcome([writePhaseSummary(run, completed.id)])
  const next = nextPhase(run)
  if (next === undefined) return outcome([writeSummary(run)])
  if (run.leaves === true && run.host !== undefined) return outcome(leaveDrained(run, run.host))
  const started: RunEvent = { _tag: "PhaseStarted", runId: run.runId, phase: next.id, title: next.title }
  // The author of a phase that begins again elsewhere goes on.
  const use: SessionUse = run.moved?.phase === next.id && run.moved.author !== undefined ? { _tag: "current" } : fresh
  return outcome([started], enter("EXECUTE", "phase-started", use))
}

export const phaseSummarised = (phase: PhaseId, path: string): Outcome =>
  outcome([{ _tag: "PhaseSummarised", phase, path }], { _tag: "NextPhase" })
