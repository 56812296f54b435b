/** Which limit, if any, keeps a run from entering a step (docs/design/run-machine.md#the-run-machine-orchestrator). */
import type { Step } from "@reprise/protocol"
import { stepTask } from "../prompt/author.ts"
import type { EscalationRequest } from "../run/moves.ts"
import type { Limit } from "../run/question.ts"
import { budgetsOf, hasPlan } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { isAuthorStep, isCounted } from "../run/transitions.ts"
import { usedCost, usedTokens } from "./usage.ts"

const callsAgent = (step: Step) => isAuthorStep(step) || step === "REVIEW"

/** What an author that continues its session in this step does not know yet. */
const briefFor = (run: Run, step: Step): Pick<EscalationRequest, "brief"> =>
  run.phase !== undefined && (step === "QUALITY_RETRY" || step === "AUTO_FIX")
    ? { brief: stepTask(run, run.phase, step) }
    : {}

const limitReached = (run: Run, step: Step, limit: Limit, reason: string): EscalationRequest => ({
  origin: "limit",
  reason,
  step,
  retry: { step, limit },
  ...briefFor(run, step)
})

/** In auto mode nobody can raise a run-wide limit, so reaching one is final. */
const runWide = (request: EscalationRequest): EscalationRequest => ({ ...request, final: true })

/** The budget that is used up, also in the middle of a turn. */
export const budgetReached = (run: Run, step: Step): EscalationRequest | undefined => {
  const { cost, tokens } = budgetsOf(run)
  const whose = hasPlan(run) ? "run" : "session"
  if (tokens > 0 && usedTokens(run) >= tokens + run.granted.tokens) {
    const reason = `The ${whose} has used ${usedTokens(run)} tokens: its budget is ${tokens}.`
    return runWide(limitReached(run, step, "tokens", reason))
  }
  if (cost > 0 && usedCost(run) >= cost + run.granted.cost) {
    const reason = `The ${whose} has cost $${usedCost(run).toFixed(2)}: its budget is $${cost}.`
    return runWide(limitReached(run, step, "cost", reason))
  }
  return undefined
}

const runLimit = (run: Run, step: Step): EscalationRequest | undefined => {
  const { maxStepsPerRun } = run.request.options.limits
  if (run.steps >= maxStepsPerRun + run.granted.steps) {
    const reason = `The run has entered ${run.steps} steps: its limit is ${maxStepsPerRun}.`
    return runWide(limitReached(run, step, "run-steps", reason))
  }
  return callsAgent(step) ? budgetReached(run, step) : undefined
}

/** Continue and fix lead to the author with what the last review found, and grant one more review. */
const reviewLimit = (run: Run, phase: PhaseRun): EscalationRequest | undefined => {
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

/** What stops the run before it enters this step; undefined: nothing does. */
export const limitReachedAt = (run: Run, step: Step): EscalationRequest | undefined => {
  if (!isCounted(step)) return undefined
  const { phase } = run
  const visits = phase?.visits[step] ?? 0
  const { maxStepVisits } = run.request.options.limits
  if (visits >= maxStepVisits + (phase?.visitsGranted[step] ?? 0)) {
    const reason = `${step} was entered ${visits} times in this phase: its limit is ${maxStepVisits}.`
    return limitReached(run, step, "step-visits", reason)
  }
  return runLimit(run, step) ?? (step === "REVIEW" && phase !== undefined ? reviewLimit(run, phase) : undefined)
}
