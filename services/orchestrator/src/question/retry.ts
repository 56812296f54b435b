/** What `fix` and auto mode do about what stopped a run (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { beginContinuation, continuationOf } from "../checkpoint/continuation.ts"
import { finishPhase } from "../phase/finish.ts"
import { isContinued } from "../prompt/continuation.ts"
import type { RunEvents } from "../run/journal.ts"
import { enter, fresh, nextInPhase, type Outcome, outcome } from "../run/moves.ts"
import type { Retry } from "../run/question.ts"
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
export const retryFresh = (retry: Retry, cause: Cause): Outcome => {
  const { command, step } = retry
  if (command !== undefined) return outcome([...grant(retry), { _tag: "WorkspaceAsked", command }])
  return outcome(
    grant(retry),
    nextInPhase((run, phase) => {
      if (step === "PHASE_COMPLETE") return outcome([finishPhase(run, phase)])
      return isAuthorStep(step) && isContinued(phase)
        ? beginContinuation(run, phase, continuationOf(run, phase, step, cause))
        : outcome([], enter(step, cause, fresh))
    })
  )
}
