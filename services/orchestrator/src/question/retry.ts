/** What `fix` and auto mode do about what stopped a run (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { beginContinuation, continuationOf } from "../checkpoint/continuation.ts"
import { runAfter } from "../machine/evolve.ts"
import { finishPhase } from "../phase/finish.ts"
import { isContinued } from "../prompt/continuation.ts"
import type { RunEvents } from "../run/journal.ts"
import { enter, fresh, type Outcome, outcome } from "../run/moves.ts"
import type { Retry } from "../run/question.ts"
import type { Run } from "../run/state.ts"
import { type Cause, isAuthorStep } from "../run/transitions.ts"

/** Grants what was in the way: the limit once more, or the history as it is now. */
export const grant = ({ base, limit, step }: Retry): RunEvents => [
  ...(limit === undefined ? [] : [{ _tag: "LimitRaised" as const, limit, step }]),
  ...(base === undefined ? [] : [{ _tag: "HistoryAccepted" as const, base }])
]

/**
 * Asks the workspace again for what it could not do, or begins the step again with a fresh agent. Where tasks are done,
 * the author gets them as a verified record.
 */
export const retryFresh = (before: Run, retry: Retry, cause: Cause): Outcome => {
  const granted = grant(retry)
  const run = runAfter(before, granted)
  const { phase } = run
  if (retry.command !== undefined) return outcome([...granted, { _tag: "WorkspaceAsked", command: retry.command }])
  if (phase === undefined) return outcome(granted)
  if (retry.step === "PHASE_COMPLETE") return outcome([...granted, finishPhase(run, phase)])
  if (!isAuthorStep(retry.step) || !isContinued(phase)) return outcome(granted, enter(retry.step, cause, fresh))
  const handover = beginContinuation(run, phase, continuationOf(run, phase, retry.step, cause))
  return { ...handover, events: [...granted, ...handover.events] }
}
