/** A paused run is resumed, with the input that was held back (docs/design/run-machine.md#the-run-machine-orchestrator). */

import { type Refusal, refusing } from "@reprise/actor"
import { defined } from "@reprise/protocol"
import { Result } from "effect"
import { finishPhase } from "../phase/finish.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { enter, next, type Outcome, outcome } from "../run/moves.ts"
import { locationOf } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { actUpon, isHandled } from "./handlers.ts"

const resumed = (run: Run): RunEvent => ({
  _tag: "RunResumed",
  ...locationOf(run),
  ...defined({ step: run.step })
})

/** The agent went on by itself during the pause: now its step is running again. */
const stepResumed = (run: Run): RunEvents => {
  const { pending, step } = run
  if (pending._tag !== "Agent") return []
  const { sessionId } = pending
  return [
    {
      _tag: "StepResumed",
      ...locationOf(run),
      ...defined({ step }),
      sessionId,
      cause: "agent-working"
    }
  ]
}

/** What the resumed run does next: it acts upon the input that was held back, or begins the interrupted step again. */
const carryOn = (before: Run, after: Run): Outcome => {
  const { held, status } = before
  const acted = held !== undefined && isHandled(held) ? actUpon(after, held) : undefined
  if (acted !== undefined) return acted
  if (after.prompts.length > 0 && (after.pending._tag === "Agent" || after.pending._tag === "Turn")) {
    return outcome([], { _tag: "NextPrompt" })
  }
  const { phase, step } = after
  if (status !== "paused" || after.pending._tag !== "Nothing" || step === undefined) return outcome([])
  // The phase is approved already: only its tree and the plan are looked at again.
  if (step === "PHASE_COMPLETE") return outcome(phase === undefined ? [] : [finishPhase(after, phase)])
  return outcome([], enter(step, "resumed"))
}

export const resumeRun = (run: Run): Result.Result<Outcome, Refusal> => {
  if (run.status !== "paused" && !run.pauseAsked) {
    return refusing("orchestrator")("not-paused", `Run ${run.runId} is not paused: it is ${run.status}.`)
  }
  const events = [resumed(run), ...(run.status === "paused" ? stepResumed(run) : [])]
  return Result.succeed(
    outcome(
      events,
      next((after) => carryOn(run, after))
    )
  )
}
