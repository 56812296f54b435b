import type { RunEvents } from "../Event.ts"
import { evolveStarted } from "../fold/evolve.ts"
import { enter, fresh, type Outcome, outcome } from "../Move.ts"
import { isContinued } from "../prompts/isContinued.ts"
import type { Retry } from "../Question.ts"
import type { Run } from "../Run.ts"
import { type Cause, isAuthorStep } from "../transitions.ts"
import { beginContinuation, continuationOf } from "./continuation.ts"
import { finishPhase } from "./phase.ts"

/** What was in the way is granted: the limit anew, or the history as it is. */
export const grant = ({ base, limit, step }: Retry): RunEvents => [
  ...(limit === undefined ? [] : [{ _tag: "LimitRaised" as const, limit, step }]),
  ...(base === undefined ? [] : [{ _tag: "HistoryAccepted" as const, base }])
]

/**
 * What `fix` and auto mode do: ask the workspace again for what it could not do, or begin the step again with a fresh
 * agent. Where tasks are done, the author gets them as a verified record (run-machine: ESCALATE, fix).
 */
export const retryFresh = (before: Run, retry: Retry, cause: Cause): Outcome => {
  const granted = grant(retry)
  const run = granted.reduce(evolveStarted, before)
  const { phase } = run
  if (retry.command !== undefined) return outcome([...granted, { _tag: "WorkspaceAsked", command: retry.command }])
  if (phase === undefined) return outcome(granted)
  if (retry.step === "PHASE_COMPLETE") return outcome([...granted, finishPhase(run, phase)])
  if (!isAuthorStep(retry.step) || !isContinued(phase)) return outcome(granted, enter(retry.step, cause, fresh))
  const handed = beginContinuation(run, phase, continuationOf(run, phase, retry.step, cause))
  return { ...handed, events: [...granted, ...handed.events] }
}
