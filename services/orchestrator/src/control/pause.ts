/** Pause, resume and abort, at any time (run-machine: any). */

import { Refusal } from "@reprise/actor"
import { Result } from "effect"
import type { RunEvent, RunEvents } from "../actor/journal.ts"
import type { Pending, Run } from "../actor/state.ts"
import { placeOf } from "../phase/plan.ts"
import { closeReview } from "../review/review.ts"

type Decision = Result.Result<RunEvents, Refusal>

const refuse = (reason: string): Decision => Result.fail(new Refusal({ reason }))

/** What is under way, below a question of an agent too. */
export const underWay = (pending: Pending): Pending => (pending._tag === "Answer" ? pending.under : pending)

const paused = (run: Run): RunEvent => ({
  _tag: "RunPaused",
  ...placeOf(run),
  ...(run.step === undefined ? {} : { step: run.step })
})

/** Ends the turn under way. Its step begins anew when the run is resumed, since an aborted session is not continued. */
const interrupt = (run: Run): RunEvents => {
  const { pending, phase } = run
  const now = underWay(pending)
  const closed: RunEvents =
    pending._tag === "Answer" && now._tag !== "Nothing"
      ? [{ _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "superseded" }]
      : []
  if (now._tag === "Turn") {
    return [...closed, { _tag: "SessionStopped", sessionId: now.sessionId, reason: "the run is paused" }]
  }
  return now._tag === "Review" && phase !== undefined
    ? [...closed, closeReview(phase, true, "the run is paused")]
    : closed
}

/** What is under way is let finish, unless it is to be now. Where nothing is, the run is paused at once. */
export const pauseRun = (run: Run, now: boolean): Decision => {
  if (run.status === "paused") return refuse(`Run ${run.runId} is paused already. 'reprise resume' goes on with it.`)
  if (now) return Result.succeed([...interrupt(run), paused(run)])
  const working = ["Turn", "Review", "Workspace"].includes(underWay(run.pending)._tag)
  if (!working) return Result.succeed([paused(run)])
  return run.pauseAsked
    ? refuse(`Run ${run.runId} pauses when what is under way has finished; with --now it is interrupted.`)
    : Result.succeed([{ _tag: "PauseAsked", now }])
}

/** The run goes on; whatever came in the meantime is acted upon by the caller. */
export const resumeRun = (run: Run): Decision =>
  run.status === "paused" || run.pauseAsked
    ? Result.succeed([{ _tag: "RunResumed", ...placeOf(run), ...(run.step === undefined ? {} : { step: run.step }) }])
    : refuse(`Run ${run.runId} is not paused: it is ${run.status}.`)
