/**
 * The hand-over to a fresh author: the record of completed tasks is written, then verified, and only then the author
 * starts (docs/design/continuation.md#verification-before-going-on).
 */
import { nextTask, slugOf } from "@reprise/plan"
import { type CompletedTask, defined, type SessionDecision, type WorkspaceCommand } from "@reprise/protocol"
import { verifiedTask } from "../prompt/continuation.ts"
import type { InputOf } from "../run/inputs.ts"
import type { Continuation, RunEvent, RunEvents } from "../run/journal.ts"
import { type EscalationRequest, enter, escalate, fresh, type Move, type Outcome, outcome } from "../run/moves.ts"
import { currentTitle, plannedPhase, sameCommit } from "../run/plan.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { listSome } from "../run/text.ts"
import { isCause } from "../run/transitions.ts"

/** Writes the state file. It is a projection of the journal: whatever is in the file is replaced. */
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
    ...defined({ resolution, resumeAt, expected: phase.stateDigest })
  }
  return { _tag: "WorkspaceAsked", command }
}

/** The first step of a hand-over: writes the record, unless the limit of hand-overs is reached. */
export const beginContinuation = (run: Run, phase: PhaseRun, continuation: Continuation): Outcome => {
  const begun: RunEvent = { _tag: "ContinuationBegun", continuation }
  const limit = continuationLimit(run, { ...phase, continuation })
  return limit === undefined
    ? outcome([begun, writeState(run, phase, continuation)])
    : outcome([begun], escalate(limit))
}

/** The task to resume at: the last hand-over's, or once that is done, the next task that is not. */
const resumePoint = (run: Run, phase: PhaseRun): string | undefined => {
  const { failed, resumeAt: before } = phase.continuation ?? {}
  const isFailed = ({ commit, id }: CompletedTask) =>
    failed !== undefined && id === before && sameCommit(commit, failed)
  const done = phase.completedTasks.filter((task) => !isFailed(task)).map(({ id }) => id)
  if (before !== undefined && !done.includes(before)) return before
  const planned = plannedPhase(run, phase.id)
  return planned === undefined ? undefined : nextTask(planned, done)?.id
}

/** Another hand-over; its checkpoint stays the newest one. Steps that fix something resume at no task of the plan. */
export const continuationOf = (
  run: Run,
  phase: PhaseRun,
  step: Continuation["step"],
  cause: Continuation["cause"],
  session?: SessionDecision
): Continuation => {
  const { checkpoint, failed, resolution } = phase.continuation ?? {}
  const resumeAt = step === "EXECUTE" ? resumePoint(run, phase) : undefined
  return {
    step,
    cause,
    ...defined({ checkpoint, resolution, resumeAt, failed, session })
  }
}

export const verifyTasks = (run: Run, phase: PhaseRun): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "VerifyContinuation",
    runId: run.runId,
    phase: phase.id,
    completedTasks: phase.completedTasks,
    ...defined({ verified: phase.verified }),
    base: phase.base
  }
})

const enterStep = (continuation: Continuation | undefined): Move => {
  const cause = continuation?.cause ?? "fix"
  const use = { ...fresh, decision: continuation?.session }
  return enter(continuation?.step ?? "EXECUTE", isCause(cause) ? cause : "fix", use)
}

export const continuationVerified = (phase: PhaseRun, { base }: InputOf<"ContinuationVerified">): Outcome => {
  const noted: RunEvents =
    base === undefined
      ? []
      : [{ _tag: "Noted", text: `The history before ${phase.base} was rewritten: the phase counts from ${base} now.` }]
  const verified: RunEvent = { _tag: "TasksVerified", ...defined({ base }) }
  return outcome([verified, ...noted, { _tag: "ContinuationEnded" }], enterStep(phase.continuation))
}

/** Missing work is never recreated by guess: a human says whether it is restored or done again. */
export const continuationRejected = (event: InputOf<"ContinuationRejected">): Outcome => {
  const { base, missingCommits, missingFiles, shallow } = event
  const hint =
    shallow === true
      ? " The repository is a shallow clone: 'git fetch --unshallow' fetches the rest of the history."
      : ""
  const missing = [...missingCommits.map((commit) => `commit ${commit}`), ...missingFiles]
  return outcome(
    [{ _tag: "TasksMissing", missingCommits, missingFiles, ...defined({ base }) }],
    escalate({
      origin: "continuation",
      reason: `Work that was reported as done is missing: ${listSome(missing)}.${hint}`,
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

/** The first of these tasks in the plan's order; tasks that the plan does not list come before all others. */
const firstPlanned = (run: Run, phase: PhaseRun, ids: ReadonlyArray<string>): string | undefined => {
  const planned = plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []
  return ids.toSorted((a, b) => planned.indexOf(a) - planned.indexOf(b))[0]
}

/**
 * Tasks whose work is missing count as not done, and the record is written again without them. If what is missing fits
 * no task, none is trusted. A verification of lost work says nothing about what will replace it.
 */
export const redoMissing = (run: Run, phase: PhaseRun): RunEvents => {
  const missing = phase.completedTasks.filter((task) => isMissing(phase, task))
  const verifiedIsMissing = phase.missing?.missingCommits.includes(phase.verified ?? "") === true
  const dropped = missing.length === 0 && !verifiedIsMissing ? phase.completedTasks : missing
  const kept = phase.completedTasks.filter((task) => !dropped.includes(task))
  const { cause, step } = phase.continuation ?? { step: "EXECUTE" as const, cause: "fix" }
  const { checkpoint, resolution, resumeAt, ...rest } = continuationOf(run, phase, step, cause)
  const first = firstPlanned(run, phase, [
    ...dropped.map(({ id }) => id),
    ...(resumeAt === undefined ? [] : [resumeAt])
  ])
  const isLost =
    verifiedTask(phase.continuation) !== undefined && dropped.some(({ id }) => id === checkpoint?.report.task)
  const continuation: Continuation = {
    ...rest,
    ...(isLost || checkpoint === undefined ? {} : { checkpoint }),
    ...(isLost || resolution === undefined ? {} : { resolution }),
    ...defined({ resumeAt: first })
  }
  return [
    { _tag: "TasksDropped", tasks: dropped },
    { _tag: "ContinuationBegun", continuation },
    writeState(run, { ...phase, completedTasks: kept }, continuation)
  ]
}

/** Writes and verifies the record once more, after a human has restored what was missing. */
export const verifyAgain = (run: Run, phase: PhaseRun): RunEvents =>
  phase.continuation === undefined ? [verifyTasks(run, phase)] : [writeState(run, phase, phase.continuation)]

/**
 * What stops another hand-over to a fresh author; undefined: nothing does
 * (docs/design/continuation.md#many-checkpoints-and-the-summary).
 */
const continuationLimit = (run: Run, phase: PhaseRun): EscalationRequest | undefined => {
  const { maxContinuations } = run.request.options.limits
  if (phase.continuations < maxContinuations + phase.continuationsGranted) return undefined
  const times = `${phase.continuations} times: its limit is ${maxContinuations}`
  return {
    origin: "limit",
    reason: `Phase ${phase.id} was handed to a fresh author ${times}.`,
    retry: { step: phase.continuation?.step ?? "EXECUTE", limit: "continuations" },
    noContinue: "the work is to be handed to a fresh author"
  }
}
