/** What a run may still do, for people. Pure. */
import { addTokens, type RunView } from "@reprise/protocol"

const minutes = (ms: number): string => `${Math.round(ms / 6_000) / 10} min`

/** `12 of 250 steps`, the counts of the current phase, and the budgets that are on. */
export const limitsLine = ({ limits, phase: id, phases, steps = 0, usage }: RunView): string => {
  if (limits === undefined) return ""
  const phase = phases.find((one) => one.id === id)
  const { author, reviewer } = usage
  const { cacheWrite, input, output, reasoning } = addTokens(author.tokens, reviewer.tokens)
  const tokens = input + output + reasoning + cacheWrite
  const parts = [
    `${steps} of ${limits.maxStepsPerRun} steps`,
    `phase ${id ?? "1"}: ${phase?.reviewCycles ?? 0} of ${limits.maxReviewIterations} reviews`,
    `${phase?.qualityAttempts ?? 0} gate runs (${limits.maxQualityRetries} retries in a row)`,
    `${phase?.continuations ?? 0} of ${limits.maxContinuations} continuations`,
    ...(limits.turnInactivityMs > 0 ? [`a turn may rest ${minutes(limits.turnInactivityMs)}`] : []),
    ...(limits.turnWallMs > 0 ? [`and take ${minutes(limits.turnWallMs)}`] : []),
    ...(limits.tokenBudget > 0 ? [`${tokens} of ${limits.tokenBudget} tokens`] : []),
    ...(limits.costBudget > 0
      ? [`$${(author.cost + reviewer.cost).toFixed(2)} of $${limits.costBudget.toFixed(2)}`]
      : [])
  ]
  return `limits: ${parts.join(", ")}`
}
