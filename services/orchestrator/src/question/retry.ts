/** What `fix` and auto mode do about what stopped a run (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { runAfter } from "../actor/evolve.ts"
import type { RunEvents } from "../actor/journal.ts"
import { enter, fresh, type Outcome, outcome } from "../actor/moves.ts"
import type { Run } from "../actor/state.ts"
import { type Cause, isAuthorStep } from "../actor/transitions.ts"
import { beginContinuation, continuationOf } from "../checkpoint/continuation.ts"
import { isContinued } from "../checkpoint/prompt.ts"
import { finishPhase } from "../phase/finish.ts"
import type { Retry } from "./question.ts"

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
