/** What the tables of transitions, questions and ends say of each event that the machine is about to record. */
import type { RunEvent } from "../run/journal.ts"
import { stepInTables } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { isCause, isEnding, isQuestion, isTransition } from "../run/transitions.ts"

/** What the tables lack for this event, in words; undefined: nothing. */
export const missingInTables = (run: Run, event: RunEvent): string | undefined => {
  const at = stepInTables(run, event)
  const from = at ?? "the start"
  switch (event._tag) {
    case "StepStarted": {
      const { cause, step } = event
      return isCause(cause) && isTransition(at, cause, step)
        ? undefined
        : `no transition '${cause ?? "none"}' leads from ${from} to ${step}`
    }
    case "QuestionAsked": {
      const { origin, step = at } = event.question.ask
      return isQuestion(step, origin) ? undefined : `no question of origin '${origin}' is asked at ${step ?? from}`
    }
    case "RunCompleted":
      return isEnding(at, "completed") ? undefined : `no run is completed at ${from}`
    case "RunFailed":
      return isEnding(at, "failed") ? undefined : `no run fails at ${from}`
    default:
      return undefined
  }
}

/** Throws where the tables lack the event: the machine has a defect, and what it decided is not recorded. */
export const checkTables = (run: Run, event: RunEvent): void => {
  const missing = missingInTables(run, event)
  if (missing === undefined) return
  throw new Error(
    `Run ${run.runId} stays as it was: ${missing} (docs/reference/run-machine.md). This is a defect of Reprise: please report it.`
  )
}
