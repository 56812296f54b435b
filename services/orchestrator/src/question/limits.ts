/** Which limit, if any, keeps a run from entering a step (run-machine: Limits). */

import type { Step } from "@reprise/protocol"
import type { Trouble } from "../actor/moves.ts"
import type { PhaseRun, Run } from "../actor/state.ts"
import { breakable, isAuthorStep } from "../actor/transitions.ts"
import { stepTask } from "../author/prompt.ts"
import { spentCost, spentTokens } from "../control/usage.ts"
import type { Limit } from "./question.ts"

const callsAgent = (step: Step) => isAuthorStep(step) || step === "REVIEW"

const met = (run: Run, step: Step, limit: Limit, reason: string): Trouble => ({
  origin: "limit",
  reason,
  step,
  retry: { step, limit },
  ...briefFor(run, step)
})

/** What an author that goes on in this step does not know yet. */
const briefFor = (run: Run, step: Step): Pick<Trouble, "brief"> =>
  run.phase !== undefined && (step === "QUALITY_RETRY" || step === "AUTO_FIX")
    ? { brief: stepTask(run, run.phase, step) }
    : {}

/** Nobody is there to grant a run more of what it was given for all of its phases. */
const metByRun = (run: Run, step: Step, limit: "run-steps" | "tokens" | "cost", reason: string): Trouble => ({
  ...met(run, step, limit, reason),
  final: true
})

const runLimit = (run: Run, step: Step): Trouble | undefined => {
  const { costBudget, maxStepsPerRun, tokenBudget } = run.request.options.limits
  if (run.steps >= maxStepsPerRun + run.granted.steps) {
    return metByRun(run, step, "run-steps", `The run may enter ${maxStepsPerRun} steps, and has entered ${run.steps}.`)
  }
  if (!callsAgent(step)) return undefined
  if (tokenBudget > 0 && spentTokens(run) >= tokenBudget + run.granted.tokens) {
    return metByRun(run, step, "tokens", `The run has used ${spentTokens(run)} tokens: its budget is ${tokenBudget}.`)
  }
  if (costBudget > 0 && spentCost(run) >= costBudget + run.granted.cost) {
    return metByRun(run, step, "cost", `The run has cost $${spentCost(run).toFixed(2)}: its budget is $${costBudget}.`)
  }
  return undefined
}

/** Continue and fix lead to the author with what the last review found, and grant one review more. */
const reviewLimit = (run: Run, phase: PhaseRun): Trouble | undefined => {
  const { maxReviewIterations } = run.request.options.limits
  if (phase.verdicts < maxReviewIterations + phase.reviewsGranted) return undefined
  return {
    origin: "limit",
    reason: `Phase ${phase.id} was reviewed ${phase.verdicts} times and not approved: its limit is ${maxReviewIterations}.`,
    step: "REVIEW",
    retry: { step: "AUTO_FIX", limit: "review-cycles" },
    items: phase.items,
    ...briefFor(run, "AUTO_FIX")
  }
}

/** What stops the run before it enters this step; undefined: nothing. */
export const limitAt = (run: Run, step: Step): Trouble | undefined => {
  if (!breakable(step)) return undefined
  const { phase } = run
  const visits = phase?.visits[step] ?? 0
  const { maxStepVisits } = run.request.options.limits
  if (visits >= maxStepVisits + (phase?.visitsGranted[step] ?? 0)) {
    return met(
      run,
      step,
      "step-visits",
      `${step} was entered ${visits} times in this phase: its limit is ${maxStepVisits}.`
    )
  }
  return runLimit(run, step) ?? (step === "REVIEW" && phase !== undefined ? reviewLimit(run, phase) : undefined)
}

/** Whether another fresh author may be handed the record of this phase (continuation: Many checkpoints). */
export const continuationLimit = (run: Run, phase: PhaseRun): Trouble | undefined => {
  const { maxContinuations } = run.request.options.limits
  if (phase.continuations < maxContinuations + phase.continuationsGranted) return undefined
  const times = `${phase.continuations} times: its limit is ${maxContinuations}`
  return {
    origin: "limit",
    reason: `Phase ${phase.id} was handed to a fresh author ${times}.`,
    retry: { step: phase.continuation?.step ?? "EXECUTE", limit: "continuations" },
    noContinue: "the work is to be handed to a fresh author"
  }
}
