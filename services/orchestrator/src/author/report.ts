/** An author's turn has ended: what its report, or its failure, leads to (run-machine: any author step). */

import type { AuthorStatus, CheckpointReport, CompletedTask, Step } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { RunEvent } from "../actor/journal.ts"
import { enter, escalate, type Move, type Outcome, outcome } from "../actor/moves.ts"
import type { Pending, PhaseRun, Run } from "../actor/state.ts"
import type { Cause } from "../actor/transitions.ts"
import { isContinued } from "../checkpoint/prompt.ts"
import { lastVerified, reviewFile, sameCommit } from "../phase/plan.ts"
import { render } from "../prompts.ts"
import { hasGates } from "../quality/gates.ts"

export type Turn = Extract<Pending, { readonly _tag: "Turn" }>

const isHash = (text: string) => /^[0-9a-f]{4,64}$/i.test(text)

/** A report's text, undefined when it says nothing. */
const said = (text: string | undefined): string | undefined => (text?.trim() === "" ? undefined : text?.trim())

const isLine = (text: string) => said(text) !== undefined && !/[\r\n]/.test(text) && text.length <= 256

/** Without blanks around its parts, and hashes in lower case: as it is compared and written later. */
const normal = (status: AuthorStatus): AuthorStatus => {
  const { commit: _, ...rest } = status
  const commit = said(status.commit)?.toLowerCase()
  return withVerifiedTask({
    ...rest,
    ...(commit === undefined ? {} : { commit }),
    ...(status.completedTasks === undefined ? {} : { completedTasks: status.completedTasks.map(normalTask) }),
    ...(status.checkpoint === undefined
      ? {}
      : { checkpoint: { ...status.checkpoint, task: status.checkpoint.task.trim() } })
  })
}

/** With human-verify the task is done and committed before it is looked at, whether or not it is listed. */
const withVerifiedTask = (status: AuthorStatus): AuthorStatus => {
  const { checkpoint, commit, completedTasks = [] } = status
  if (checkpoint?.type !== "human-verify" || commit === undefined || !isHash(commit)) return status
  const { task } = checkpoint
  return completedTasks.some(({ id }) => id === task)
    ? status
    : { ...status, completedTasks: [...completedTasks, { id: task, commit, files: [] }] }
}
const normalTask = (task: CompletedTask): CompletedTask => ({
  ...task,
  id: task.id.trim(),
  commit: task.commit.trim().toLowerCase()
})

/** What is wrong with the parts of a report that are written into the record for the next author. */
const brokenRecord = ({ checkpoint, completedTasks = [] }: AuthorStatus): string | undefined => {
  const nameless = completedTasks.find((task) => !isLine(task.id))
  if (nameless !== undefined) return `a task that is said to be done has no id, or one of many lines: '${nameless.id}'.`
  const unhashed = completedTasks.find((task) => !isHash(task.commit))
  if (unhashed !== undefined) {
    return `task ${unhashed.id} is said to be done by '${unhashed.commit}', which is not the hash of a commit.`
  }
  return checkpoint === undefined ? undefined : brokenCheckpoint(checkpoint)
}

/** A human chooses by an option's id: none can be without one, and no two can share one. */
const brokenCheckpoint = ({ options = [], task, type }: CheckpointReport): string | undefined => {
  if (!isLine(task)) return `the checkpoint names no task: '${task}'.`
  if (type !== "decision") return undefined
  const ids = options.map(({ id }) => id)
  const nameless = ids.find((id) => !isLine(id) || id !== id.trim())
  if (nameless !== undefined) return `an option of the decision has no id, or none of a single line: '${nameless}'.`
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? undefined : `two options of the decision have the id '${twice}'.`
}

/** Which invariant a report breaks, in words for its author; undefined: none. */
const brokenRule = (status: AuthorStatus | undefined, needsCommit: boolean): string | undefined => {
  if (status === undefined) return "it is not an author's report."
  const { checkpoint, commit, reason, result } = status
  if (commit !== undefined && !isHash(commit)) {
    return `'${commit}' is not the hash of a commit: give the hash that \`git rev-parse HEAD\` prints.`
  }
  const record = brokenRecord(status)
  if (record !== undefined) return record
  switch (result) {
    case "complete":
      return needsCommit && commit === undefined
        ? "the phase is said to be complete, but the hash of the commit that holds the work is missing."
        : undefined
    case "checkpoint":
      return checkpoint === undefined ? "a checkpoint is said to be reached, but not which one." : undefined
    default:
      return said(reason) === undefined ? `the result is ${result}, but the reason is missing.` : undefined
  }
}

const verifiedIn: Readonly<Partial<Record<Step, Cause>>> = { EXECUTE: "work-verified", PHASE_GATE: "head-moved" }

/** Where a step's finished work goes: to the gates, or past them where there are none. */
export const afterWork = (run: Run): Move =>
  enter(hasGates(run) ? "QUALITY_CHECK" : "REVIEW", verifiedIn[run.step ?? "EXECUTE"] ?? "fixed")

/** A commit is verified when it is a new one; a step that mends may well need none. */
const complete = (run: Run, phase: PhaseRun, received: RunEvent, commit: string | undefined): Outcome => {
  const known = run.step !== "EXECUTE" && phase.verified !== undefined && sameCommit(commit ?? "", phase.verified)
  if (commit === undefined || known) return outcome([received], afterWork(run))
  const command = {
    _tag: "VerifyCommit" as const,
    runId: run.runId,
    phase: phase.id,
    commit,
    base: lastVerified(phase),
    reviewPath: reviewFile(run, phase)
  }
  return outcome([received, { _tag: "WorkspaceAsked", command }])
}

/** Asked once within a step to correct it; then a human is asked, and nobody relies on that session. */
const broken = (run: Run, phase: PhaseRun, turn: Turn, problem: string): Outcome => {
  if (!phase.told.report) {
    const task = render(run, "report-correction", { problem })
    return outcome([], { _tag: "Tell", purpose: "report-correction", task, continued: turn.continued })
  }
  const message = `The author's report cannot be used: ${problem}`
  return outcome(
    [{ _tag: "TurnBroke", turnId: turn.turnId, kind: "invalid-report", message, usable: false }],
    escalate({ origin: "author", reason: message })
  )
}

export const turnCompleted = (run: Run, phase: PhaseRun, turn: Turn, event: InputOf<"TurnCompleted">): Outcome => {
  const { lastLines } = event
  const status = event.status === undefined ? undefined : normal(event.status)
  // A step that mends may need no commit, as long as the work that it mends is there.
  const problem = brokenRule(status, run.step === "EXECUTE" || phase.verified === undefined)
  if (status === undefined || problem !== undefined) return broken(run, phase, turn, problem ?? "it is missing.")
  const received: RunEvent = {
    _tag: "ReportReceived",
    turnId: turn.turnId,
    status,
    ...(lastLines === undefined ? {} : { lastLines }),
    ...(turn.continued ? { continued: true } : {}),
    ...(event.context === undefined ? {} : { context: event.context })
  }
  switch (status.result) {
    case "complete":
      return complete(run, phase, received, status.commit)
    case "checkpoint":
      return status.checkpoint === undefined
        ? outcome([received])
        : outcome(
            [
              received,
              { _tag: "CheckpointOpened", checkpoint: { report: status.checkpoint, from: run.step ?? "EXECUTE" } }
            ],
            enter("CHECKPOINT", "checkpoint")
          )
    case "needs_human":
      return outcome([received], escalate({ origin: "author", reason: status.reason ?? "" }))
    case "failed":
      return outcome(
        [received],
        escalate({
          origin: "author",
          reason: status.reason ?? "",
          ...(turn.continued ? { noContinue: "the turn that continued it failed" } : {})
        })
      )
  }
}

/** No failures of the work (sessions: Rate limit): a session that was continued can be continued again. */
const passing: ReadonlyArray<string> = ["out_of_credits", "rate_limited", "no_internet"]
/** Failures after which the session-manager can vouch for a session. After any other its state is unknown. */
const vouched: ReadonlyArray<string> = [...passing, "unauthorized", "gone", "turn-limit"]

export const turnFailed = (run: Run, turn: Turn, event: InputOf<"TurnFailed">): Outcome => {
  const { kind, lastLines, message, sessionUsable } = event
  const continued = turn.continued && !passing.includes(kind)
  const usable = sessionUsable && !continued && vouched.includes(kind)
  const broke: RunEvent = {
    _tag: "TurnBroke",
    turnId: turn.turnId,
    kind,
    message,
    usable,
    ...(continued ? { continued: true } : {}),
    ...(lastLines === undefined ? {} : { lastLines })
  }
  const again = { _tag: "Retry", retry: { step: run.step ?? "EXECUTE" } } as const
  if (turn.interrupted && kind === "aborted") return outcome([broke], { ...again, cause: "resumed" })
  // What is done is verified, and a fresh author goes on from it; only a human's own choice is not changed.
  const handsOver = kind === "session-missing" && !turn.continued && run.phase !== undefined && isContinued(run.phase)
  if (handsOver) return outcome([broke], { ...again, cause: "session-lost" })
  // The session-manager aborts a session whose turn timed out; where it says otherwise, it is told to.
  const stopped: ReadonlyArray<RunEvent> =
    kind === "timeout" && sessionUsable
      ? [{ _tag: "SessionStopped", sessionId: turn.sessionId, reason: "its turn timed out" }]
      : []
  return outcome(
    [broke, ...stopped],
    escalate({ origin: "runtime", reason: `The author's turn failed (${kind}): ${message}` })
  )
}
