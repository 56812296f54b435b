/**
 * The watch over runs saw that what a run waits for is not under way: a human is asked, with what is missing
 * (docs/design/run-machine.md#the-run-machine-orchestrator). A result that comes after all is counted and changes nothing:
 * the answer decides how the run goes on, and a fresh or continued author finds the work that was done.
 */
import { defined, type WorkspaceCommand } from "@reprise/protocol"
import { Equal } from "effect"
import { noteResting } from "../author/session.ts"
import { workspaceBroke } from "../control/refusedOrFailed.ts"
import { awaitedWork } from "../run/awaitedWork.ts"
import { failRun, releaseWorkspace } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { escalate, type Outcome, outcome } from "../run/moves.ts"
import { isShown, livesInSession, locationOf } from "../run/standalone.ts"
import type { Pending, Run, RunState, Turn } from "../run/state.ts"

type Stuck = InputOf<"ReportStuck">

/** Whether the run is no longer the one that was looked at. Of a standalone session's run only the session was. */
export const hasMovedOn = (state: RunState, { updatedAt, waitsFor }: Stuck, now: string): boolean => {
  if (state._tag === "NoRun" || state.status !== "running") return true
  if (!isShown(state)) {
    const { stuckAfterMs } = state.request.options.limits
    return stuckAfterMs === 0 || Date.parse(now) - Date.parse(state.updatedAt) < stuckAfterMs
  }
  return state.updatedAt !== updatedAt || !Equal.equals(awaitedWork(state), waitsFor)
}

/** Should the turn begin after all, it ends at once: no two authors ever work side by side. */
const turnMissing = (run: Run, { sessionId, turnId }: Turn, { missing, session }: Stuck): Outcome =>
  outcome(
    [
      ...noteResting(run, { sessionId }),
      { _tag: "TurnInterrupted", sessionId, turnId, reason: "the run no longer waits for it" },
      {
        _tag: "TurnBroke",
        turnId,
        kind: session === "ended" ? "session-missing" : "runtime",
        message: missing,
        session: session === "ended" && livesInSession(run) ? "doubtful" : session,
        unread: true
      }
    ],
    escalate({ origin: "runtime", reason: missing })
  )

const agentMissing = (
  run: Run,
  { sessionId }: Extract<Pending, { readonly _tag: "Agent" }>,
  { missing, session }: Stuck
): Outcome => {
  const rested: RunEvents = [...noteResting(run, { sessionId }), { _tag: "AgentRested", sessionId }]
  const lost: RunEvents = session === "ended" ? [{ _tag: "SessionLost", sessionId, why: "it has ended" }] : []
  const noContinue = session === "doubtful" ? { noContinue: "the state of the session is not known" } : {}
  return outcome([...rested, ...lost], escalate({ origin: "runtime", reason: missing, ...noContinue }))
}

const reviewMissing = (cycle: number, missing: string): Outcome =>
  outcome(
    [{ _tag: "ReviewBroke", cycle, reason: missing }],
    escalate({
      origin: "reviewer",
      reason: missing,
      retry: { step: "REVIEW" },
      noContinue: "the reviewer's session is not the author's"
    })
  )

/** The run fails where its workspace was never prepared: what was asked for is released, should it be prepared after all. */
const workMissing = (run: Run, command: WorkspaceCommand, missing: string): Outcome => {
  const broke = workspaceBroke(run, command, missing)
  return command._tag === "PrepareWorkspace" ? outcome([...broke.events, releaseWorkspace(run, "failed")]) : broke
}

const outcomeOf = (run: Run, stuck: Stuck): Outcome => {
  const { pending, phase } = run
  const { missing } = stuck
  switch (pending._tag) {
    case "Turn":
      return turnMissing(run, pending, stuck)
    case "Review":
      return reviewMissing(pending.cycle, missing)
    case "Workspace":
      return workMissing(run, pending.command, missing)
    case "Agent":
      return agentMissing(run, pending, stuck)
    case "Answer":
      return outcome([])
    case "Nothing":
      return phase === undefined
        ? outcome(failRun(run, missing))
        : outcome([], escalate({ origin: "runtime", reason: missing }))
  }
}

/** A run that is to pause once the work under way has finished is paused: there is none. It asks after it was resumed. */
export const runStuck = (run: Run, stuck: Stuck): Outcome =>
  run.pauseAsked
    ? outcome([
        { _tag: "Noted", text: stuck.missing },
        { _tag: "RunPaused", ...locationOf(run), ...defined({ step: run.step }) }
      ])
    : outcomeOf(run, stuck)
