/** An author's turn has ended: what its report, or its failure, leads to (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { quote } from "@reprise/plan/quote"
import {
  type AuthorStatus,
  type CheckpointReport,
  type CompletedTask,
  defined,
  type Evidence,
  type FailureKind,
  otherModelMayHelp,
  passesByItself,
  type Step
} from "@reprise/protocol"
import { claimCheckpoint, raiseCheckpoint } from "../checkpoint/claims.ts"
import { leftUnanswered, missedLines, passedBy, raisedReport } from "../checkpoint/planned.ts"
import { budgetReached } from "../limits/limits.ts"
import { newGuidance } from "../prompt/author.ts"
import { isContinued } from "../prompt/continuation.ts"
import { render } from "../prompt/templates.ts"
import { completeRun } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf, RunEvent, RunEvents } from "../run/journal.ts"
import {
  after,
  type EscalationRequest,
  enter,
  escalate,
  type Move,
  type Outcome,
  outcome,
  type SessionUse
} from "../run/moves.ts"
import { hasGates, lastVerified, phaseBegan, reviewFile, sameCommit } from "../run/plan.ts"
import { hasPlan, livesInSession } from "../run/standalone.ts"
import type { PhaseRun, Run, Turn } from "../run/state.ts"
import type { Cause } from "../run/transitions.ts"
import { withVendorAdvice } from "../run/vendorAdvice.ts"
import { askForReport } from "./ask.ts"

const isHash = (text: string) => /^[0-9a-f]{4,64}$/i.test(text)

/** The text without blanks around it; undefined when nothing is left. */
const nonBlank = (text: string | undefined): string | undefined => (text?.trim() === "" ? undefined : text?.trim())

const isSingleLine = (text: string) =>
  nonBlank(text) !== undefined && !/[\n\r\v\f\u0085\u2028\u2029]/.test(text) && text.length <= 256

/** Without blanks around its parts, and hashes in lower case: as it is compared and written later. */
const normalise = (status: AuthorStatus): AuthorStatus => {
  const { commit: _, ...rest } = status
  const commit = nonBlank(status.commit)?.toLowerCase()
  return {
    ...rest,
    ...defined({ commit }),
    ...(status.completedTasks === undefined ? {} : { completedTasks: status.completedTasks.map(normaliseTask) }),
    ...(status.checkpoint === undefined
      ? {}
      : { checkpoint: { ...status.checkpoint, task: status.checkpoint.task.trim() } })
  }
}

const normaliseTask = (task: CompletedTask): CompletedTask => ({
  ...task,
  id: task.id.trim(),
  commit: task.commit.trim().toLowerCase()
})

/** What is wrong with the parts of a report that are written into the record for the next author. */
const recordProblem = ({ checkpoint, completedTasks = [] }: AuthorStatus): string | undefined => {
  const nameless = completedTasks.find((task) => !isSingleLine(task.id))
  if (nameless !== undefined) return `a completed task has no id, or one of several lines: '${nameless.id}'.`
  const unhashed = completedTasks.find((task) => !isHash(task.commit))
  if (unhashed !== undefined) {
    return `the commit of task ${unhashed.id} is '${unhashed.commit}', which is not a commit hash.`
  }
  return checkpoint === undefined ? undefined : checkpointProblem(checkpoint)
}

/** A human chooses by an option's id: each option needs one of its own. */
const checkpointProblem = ({ options = [], task, type }: CheckpointReport): string | undefined => {
  if (!isSingleLine(task)) return `the checkpoint names no task: '${task}'.`
  if (type !== "decision") return undefined
  const ids = options.map(({ id }) => id)
  const nameless = ids.find((id) => !isSingleLine(id) || id !== id.trim())
  if (nameless !== undefined) return `an option of the decision has no id, or none of a single line: '${nameless}'.`
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? undefined : `two options of the decision have the id '${twice}'.`
}

/** Which invariant a report breaks, in words for its author; undefined: none. */
const reportProblem = (status: AuthorStatus | undefined, needsCommit: boolean): string | undefined => {
  if (status === undefined) return "it is not an author's report."
  const { checkpoint, commit, reason, result } = status
  if (commit !== undefined && !isHash(commit)) {
    return `'${commit}' is not a commit hash: give the hash that \`git rev-parse HEAD\` prints.`
  }
  const problem = recordProblem(status)
  if (problem !== undefined) return problem
  switch (result) {
    case "complete":
      return needsCommit && commit === undefined
        ? "it says that the phase is complete, but the hash of the commit that holds the work is missing."
        : undefined
    case "checkpoint":
      return checkpoint === undefined ? "it says that a checkpoint is reached, but not which one." : undefined
    case "needs_human":
    case "failed":
      return nonBlank(reason) === undefined ? `the result is ${result}, but the reason is missing.` : undefined
  }
}

const verifiedIn: Readonly<Partial<Record<Step, Cause>>> = { EXECUTE: "work-verified", PHASE_GATE: "head-moved" }

/** Where a step's finished work goes: to the quality gates, or straight to the review where there are none. */
export const afterWork = (run: Run): Move =>
  enter(hasGates(run) ? "QUALITY_CHECK" : "REVIEW", verifiedIn[run.step ?? "EXECUTE"] ?? "fixed")

/**
 * A new commit is verified. A step that fixes something may need none: then gates, which run on whatever the author has left in
 * the tree, wait until the one that is verified already was verified again (docs/design/workspace.md#what-gates-run-on).
 */
const workComplete = (run: Run, phase: PhaseRun, received: RunEvent, commit: string | undefined): Outcome => {
  const { base, verified } = phase
  const isKnown = verified !== undefined && (commit === undefined || sameCommit(commit, verified))
  const work = isKnown ? verified : commit
  if (work === undefined || (isKnown && !hasGates(run))) return outcome([received], afterWork(run))
  const command = {
    _tag: "VerifyCommit" as const,
    runId: run.runId,
    phase: phase.id,
    commit: work,
    base: isKnown ? base : lastVerified(phase),
    phaseBase: phaseBegan(phase),
    reviewPath: reviewFile(run, phase)
  }
  return outcome([received, { _tag: "WorkspaceAsked", command }])
}

/** The author corrects its report once within a step; then a human is asked, and the session is not trusted any more. */
const correctOrEscalate = (run: Run, phase: PhaseRun, turn: Turn, problem: string): Outcome => {
  if (!phase.told.report) {
    const task = render(run, "report-correction", { problem: quote(problem) })
    return outcome([], { _tag: "Tell", purpose: "report-correction", task, continued: turn.continued })
  }
  const message = `The author's report cannot be used: ${problem}`
  return outcome(
    [{ _tag: "TurnBroke", turnId: turn.turnId, kind: "invalid-report", message, session: "doubtful" }],
    escalate({ origin: "author", reason: message })
  )
}

const reportReceived = (
  turn: Turn,
  status: AuthorStatus,
  event: InputOf<"TurnCompleted">
): EventOf<"ReportReceived"> => ({
  _tag: "ReportReceived",
  turnId: turn.turnId,
  status,
  ...defined({ lastLines: event.lastLines }),
  ...(turn.continued ? { continued: true } : {}),
  ...defined({ context: event.context })
})

/** The author cannot go on. A session whose continued turn failed is not offered for continue again. */
const escalateReport = (turn: Turn, result: AuthorStatus["result"], reason: string, evidence: Evidence = {}): Move =>
  escalate({
    origin: "author",
    reason,
    evidence,
    ...(result === "failed" && turn.continued ? { noContinue: "the turn that continued it failed" } : {})
  })

/**
 * A human has said something in the turn, with a permission that they granted: the author reads it before its work counts
 * as complete. Undefined: there is nothing that it has not read.
 */
const tellUnread = (
  run: Run,
  phase: PhaseRun,
  turn: Turn,
  received: EventOf<"ReportReceived">
): Outcome | undefined => {
  if (newGuidance(run, turn.sessionId).length === 0) return undefined
  const step = run.step ?? "EXECUTE"
  const unverified: RunEvent = { ...received, unverified: true }
  return phase.author?.state === "ended"
    ? outcome([unverified], { _tag: "Retry", retry: { step }, cause: "session-lost" })
    : outcome([unverified, ...askForReport(run, phase, step, turn.sessionId)])
}

/** Nothing is verified of a standalone session's report: its agent is done, or a human is asked. */
const standaloneCompleted = (run: Run, phase: PhaseRun, turn: Turn, event: InputOf<"TurnCompleted">): Outcome => {
  const { checkpoint, completedTasks: _, ...status } = event.status ?? { result: "failed" as const }
  const received = reportReceived(turn, status, event)
  if (status.result === "complete") {
    const unread = tellUnread(run, phase, turn, received)
    if (unread !== undefined) return unread
    return outcome([received, { _tag: "SessionReleased", sessionId: turn.sessionId }, ...completeRun(run)])
  }
  const reason = status.reason ?? checkpoint?.description ?? `The agent reports '${status.result}' without a reason.`
  return outcome(
    [received],
    escalateReport(turn, status.result, reason, checkpoint === undefined ? {} : { checkpoint })
  )
}

/**
 * Whether a human is to answer a checkpoint before the report leads anywhere: the author stopped at one, or has gone past
 * one of the plan, or worked on after it had stopped. Undefined: there is none.
 */
const stopAtCheckpoint = (run: Run, phase: PhaseRun, turn: Turn, status: AuthorStatus): Outcome | undefined => {
  const { result } = status
  const checkpoint = result === "checkpoint" ? status.checkpoint : undefined
  const left = leftUnanswered(run, phase)
  const isOver = result === "complete" || checkpoint !== undefined
  if (left !== undefined && left.task !== checkpoint?.task && (isOver || turn.purpose === "report")) {
    return raiseCheckpoint(run, phase, status, withReason(raisedReport(left), status))
  }
  const missed = isOver ? passedBy(run, phase, checkpoint) : []
  const [first] = missed
  if (first === undefined) return checkpoint === undefined ? undefined : claimCheckpoint(run, phase, status, checkpoint)
  if (phase.told.checkpoint) return raiseCheckpoint(run, phase, status, raisedReport(first))
  const task = render(run, "checkpoint-missed", { checkpoints: missedLines(missed) })
  return outcome([], { _tag: "Tell", purpose: "checkpoint-missed", task, continued: turn.continued })
}

const asksNow = "\n\nNow the author says: "

/** What the author asks now is part of the question that comes back, in place of what it asked the time before. */
const withReason = (report: CheckpointReport, { reason, result }: AuthorStatus): CheckpointReport => {
  const [description = ""] = report.description.split(asksNow)
  return nonBlank(reason) === undefined || result === "complete" || result === "checkpoint"
    ? { ...report, description }
    : { ...report, description: `${description}${asksNow}${reason}` }
}

export const turnCompleted = (run: Run, phase: PhaseRun, turn: Turn, event: InputOf<"TurnCompleted">): Outcome => {
  if (!hasPlan(run)) return standaloneCompleted(run, phase, turn, event)
  const status = event.status === undefined ? undefined : normalise(event.status)
  // A step that fixes something may need no commit, as long as the work that it fixes is there. In EXECUTE none is yet.
  const problem = reportProblem(status, phase.verified === undefined)
  if (status === undefined || problem !== undefined) {
    return correctOrEscalate(run, phase, turn, problem ?? "it is missing.")
  }
  const stop = stopAtCheckpoint(run, phase, turn, status)
  if (stop !== undefined) {
    const unverified: RunEvent = { ...reportReceived(turn, status, event), unverified: true }
    return after([unverified], stop)
  }
  const received = reportReceived(turn, status, event)
  switch (status.result) {
    case "complete":
      return tellUnread(run, phase, turn, received) ?? workComplete(run, phase, received, status.commit)
    case "checkpoint":
      return outcome([received])
    case "needs_human":
    case "failed":
      return outcome([received], escalateReport(turn, status.result, status.reason ?? ""))
  }
}

/** After these failures the session-manager still knows the state of the session. */
const soundKinds: ReadonlyArray<FailureKind> = ["unauthorized", "gone", "turn-limit"]

/** Failures that end a session for good. */
const endingKinds: ReadonlyArray<FailureKind> = ["timeout", "aborted", "session-missing"]

/** Whether the session of a failed turn can go on. A human may still work in a standalone one, so its turn does not end it. */
const sessionAfter = (
  run: Run,
  { kind, sessionEnded, sessionUsable }: InputOf<"TurnFailed">,
  { continued, interrupted }: { readonly continued: boolean; readonly interrupted: boolean }
): EventOf<"TurnBroke">["session"] => {
  const sound = interrupted || passesByItself(kind) || soundKinds.includes(kind)
  if (sessionUsable && !continued && sound) return "usable"
  const ends = !livesInSession(run) && endingKinds.includes(kind)
  return sessionEnded === true || ends ? "ended" : "doubtful"
}

export const turnFailed = (run: Run, turn: Turn, event: InputOf<"TurnFailed">): Outcome => {
  const { context, kind, lastLines, message, sessionUsable } = event
  const interrupted = turn.interrupted && kind === "aborted"
  const continued = turn.continued && !passesByItself(kind) && !interrupted
  const session = sessionAfter(run, event, { continued, interrupted })
  const broke: RunEvent = {
    _tag: "TurnBroke",
    turnId: turn.turnId,
    kind,
    message,
    session,
    ...(event.promptGiven === true ? {} : { unread: true }),
    ...(continued ? { continued: true } : {}),
    ...defined({ context, lastLines })
  }
  const again = { _tag: "Retry", retry: { step: run.step ?? "EXECUTE" } } as const
  if (interrupted) {
    const use: SessionUse = { _tag: "current", ...(event.promptGiven === true ? { interrupted: true } : {}) }
    return outcome(
      [broke],
      session === "usable" ? enter(run.step ?? "EXECUTE", "resumed", use) : { ...again, cause: "resumed" }
    )
  }
  // A fresh author goes on from the verified tasks. But a human who chose this session is asked instead.
  const handsOver = kind === "session-missing" && !turn.continued && run.phase !== undefined && isContinued(run.phase)
  if (handsOver) return outcome([broke], { ...again, cause: "session-lost" })
  // A session whose turn timed out is to be aborted, if the session-manager has not done so.
  const stopped: RunEvents =
    kind === "timeout" && sessionUsable && !livesInSession(run)
      ? [{ _tag: "SessionStopped", sessionId: turn.sessionId, reason: "its turn timed out" }]
      : []
  return outcome([broke, ...stopped], escalate(failureRequest(run, event)))
}

/** A turn that used up a budget raises the question that the next step would. Its author knows the task already. */
const failureRequest = (run: Run, event: InputOf<"TurnFailed">): EscalationRequest => {
  const reached = event.kind === "turn-limit" ? budgetReached(run, run.step ?? "EXECUTE") : undefined
  if (reached === undefined) return turnRequest(run, event)
  const { brief: _, ...request } = reached
  return request
}

const anotherModel = (kind: FailureKind): Pick<EscalationRequest, "changesModelOf"> =>
  otherModelMayHelp(kind) ? { changesModelOf: "author" } : {}

const turnRequest = (run: Run, event: InputOf<"TurnFailed">): EscalationRequest => {
  const { kind, message } = event
  const what = hasPlan(run) ? `The author's turn failed (${kind}): ${message}` : message
  return {
    origin: !hasPlan(run) && kind === "turn-limit" ? "limit" : "runtime",
    reason: withVendorAdvice(run, what, event),
    ...anotherModel(kind)
  }
}
