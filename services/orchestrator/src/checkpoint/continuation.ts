/**
 * A fresh author goes on from what others did (continuation): the record is written, what it says is verified, and only
 * then the author starts.
 */

import { nextTask, slugOf } from "@reprise/plan"
import type { CompletedTask, SessionDecision, WorkspaceCommand } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { Continuation, RunEvent, RunEvents } from "../actor/journal.ts"
import { enter, escalate, fresh, type Move, type Outcome, outcome } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { isCause } from "../actor/transitions.ts"
import { currentTitle, plannedPhase, sameCommit } from "../phase/plan.ts"
import { listSome } from "../prompts.ts"
import { continuationLimit } from "../question/limits.ts"
import { settledBy } from "./prompt.ts"

/** What the state file is to say. It is a projection: whatever is there is written again. */
export const writeState = (run: Run, phase: PhaseRun, continuation: Continuation): RunEvent => {
  const { checkpoint, resolution, resumeAt } = continuation
  const command: WorkspaceCommand = {
    _tag: "WriteContinuationState",
    runId: run.runId,
    phase: phase.id,
    planId: run.planId,
    slug: slugOf(currentTitle(run)),
    completedTasks: phase.completedTasks,
    ...(checkpoint === undefined ? {} : { checkpoint: checkpoint.report }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(resumeAt === undefined ? {} : { resumeAt }),
    ...(phase.stateDigest === undefined ? {} : { expected: phase.stateDigest })
  }
  return { _tag: "WorkspaceAsked", command }
}

/** Hands the phase to a fresh author: first the record. */
export const beginContinuation = (run: Run, phase: PhaseRun, continuation: Continuation): Outcome => {
  const begun: RunEvent = { _tag: "ContinuationBegun", continuation }
  const limit = continuationLimit(run, { ...phase, continuation })
  return limit === undefined
    ? outcome([begun, writeState(run, phase, continuation)])
    : outcome([begun], escalate(limit))
}

/** The task that an author goes on with: where the last hand-over said, or the next one after what was done since. */
const resumePoint = (run: Run, phase: PhaseRun): string | undefined => {
  const { failed, resumeAt: before } = phase.continuation ?? {}
  const isFailed = ({ commit, id }: CompletedTask) =>
    failed !== undefined && id === before && sameCommit(commit, failed)
  const done = phase.completedTasks.filter((task) => !isFailed(task)).map(({ id }) => id)
  if (before !== undefined && !done.includes(before)) return before
  const planned = plannedPhase(run, phase.id)
  return planned === undefined ? undefined : nextTask(planned, done)?.id
}

/** Another hand-over; its checkpoint stays the newest one. In steps that mend, there is no task to go on with. */
export const continuationOf = (
  run: Run,
  phase: PhaseRun,
  step: Continuation["step"],
  cause: Continuation["cause"],
  session?: SessionDecision
): Continuation => {
  const { checkpoint, failed, resolution, words } = phase.continuation ?? {}
  const resumeAt = step === "EXECUTE" ? resumePoint(run, phase) : undefined
  return {
    step,
    cause,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(words === undefined ? {} : { words }),
    ...(resumeAt === undefined ? {} : { resumeAt }),
    ...(failed === undefined ? {} : { failed }),
    ...(session === undefined ? {} : { session })
  }
}

export const verifyTasks = (run: Run, phase: PhaseRun): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "VerifyContinuation",
    runId: run.runId,
    phase: phase.id,
    completedTasks: phase.completedTasks,
    ...(phase.verified === undefined ? {} : { verified: phase.verified }),
    base: phase.base
  }
})

const intoStep = (continuation: Continuation | undefined): Move => {
  const cause = continuation?.cause ?? "fix"
  const how = { ...fresh, session: continuation?.session }
  return enter(continuation?.step ?? "EXECUTE", isCause(cause) ? cause : "fix", how)
}

export const continuationVerified = (phase: PhaseRun, { base }: InputOf<"ContinuationVerified">): Outcome => {
  const noted: RunEvents =
    base === undefined
      ? []
      : [{ _tag: "Noted", text: `The history below ${phase.base} was rewritten: the phase counts from ${base} now.` }]
  const verified: RunEvent = { _tag: "TasksVerified", ...(base === undefined ? {} : { base }) }
  return outcome([verified, ...noted, { _tag: "ContinuationEnded" }], intoStep(phase.continuation))
}

/** Nothing is made again by guess: a human says whether it is restored or redone. */
export const continuationRejected = (event: InputOf<"ContinuationRejected">): Outcome => {
  const { base, missingCommits, missingFiles, shallow } = event
  const hint =
    shallow === true
      ? " The repository is a shallow clone: 'git fetch --unshallow' brings what lies beyond its edge."
      : ""
  const missing = [...missingCommits.map((commit) => `commit ${commit}`), ...missingFiles]
  return outcome(
    [{ _tag: "TasksMissing", missingCommits, missingFiles, ...(base === undefined ? {} : { base }) }],
    escalate({
      origin: "continuation",
      reason: `Work that was reported as done is not there: ${listSome(missing)}.${hint}`,
      evidence: { missingCommits, missingFiles }
    })
  )
}

const isMissing = (phase: PhaseRun, task: CompletedTask): boolean => {
  const { missingCommits, missingFiles } = phase.missing ?? { missingCommits: [], missingFiles: [] }
  return (
    missingCommits.some((commit) => sameCommit(commit, task.commit)) ||
    task.files.some((file) => missingFiles.includes(file))
  )
}

/** The one that comes first in the plan; one that the plan does not list comes before all others. */
const firstPlanned = (run: Run, phase: PhaseRun, ids: ReadonlyArray<string>): string | undefined => {
  const planned = plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []
  return ids.toSorted((a, b) => planned.indexOf(a) - planned.indexOf(b))[0]
}

/**
 * What is missing counts as not done; the record is written again without it. Where no task fits, none can be trusted.
 * That lost work was passed says nothing of what will take its place.
 */
export const redoMissing = (run: Run, phase: PhaseRun): RunEvents => {
  const missing = phase.completedTasks.filter((task) => isMissing(phase, task))
  const verifiedIsMissing = phase.missing?.missingCommits.includes(phase.verified ?? "") === true
  const gone = missing.length === 0 && !verifiedIsMissing ? phase.completedTasks : missing
  const kept = phase.completedTasks.filter((task) => !gone.includes(task))
  const { cause, step } = phase.continuation ?? { step: "EXECUTE" as const, cause: "fix" }
  const { checkpoint, resolution, resumeAt, words, ...rest } = continuationOf(run, phase, step, cause)
  const first = firstPlanned(run, phase, [...gone.map(({ id }) => id), ...(resumeAt === undefined ? [] : [resumeAt])])
  const isLost = settledBy(phase.continuation) !== undefined && gone.some(({ id }) => id === checkpoint?.report.task)
  const continuation: Continuation = {
    ...rest,
    ...(isLost || checkpoint === undefined ? {} : { checkpoint }),
    ...(isLost || resolution === undefined ? {} : { resolution }),
    ...(isLost || words === undefined ? {} : { words }),
    ...(first === undefined ? {} : { resumeAt: first })
  }
  return [
    ...(isLost && words !== undefined ? [{ _tag: "GuidanceKept" as const, text: words }] : []),
    { _tag: "TasksDropped", tasks: gone },
    { _tag: "ContinuationBegun", continuation },
    writeState(run, { ...phase, completedTasks: kept }, continuation)
  ]
}

/** Written and verified once more, now that a human says that it is back. */
export const verifyAgain = (run: Run, phase: PhaseRun): RunEvents =>
  phase.continuation === undefined ? [verifyTasks(run, phase)] : [writeState(run, phase, phase.continuation)]
