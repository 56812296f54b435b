/**
 * Whether a turn has reached one of its limits: what it may use, its time (`wallMs`), the time that its agent may be
 * silent (`inactivityMs`), and the time that the runtime may retry.
 */
import { addUsage, type FailureKind, type TurnLimits, type Usage, uncachedTokens } from "@reprise/protocol"
import { Duration } from "effect"
import type { WorkOf } from "../session/work.ts"
import { humanMs, type PromptState } from "./promptState.ts"
import { failureKindOf } from "./report.ts"

/** Why a prompt must stop. */
export interface ReachedLimit {
  readonly kind: FailureKind
  readonly message: string
  readonly waitedMs?: number
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined

/** Limits that are absent or not positive are off. */
export const limitsOf = ({ inactivityMs, maxCalls, maxCost, maxTokens, maxTurnTokens, wallMs }: TurnLimits) => ({
  inactivityMs: positive(inactivityMs),
  maxCalls: positive(maxCalls),
  maxCost: positive(maxCost),
  maxTokens: positive(maxTokens),
  maxTurnTokens: positive(maxTurnTokens),
  wallMs: positive(wallMs)
})

const durationText = (ms: number): string => (ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1000} s`)

/** The first amount that is above its limit, in words. */
const usageReached = (limits: TurnLimits, { calls, cost, tokens }: Usage): string | undefined => {
  const { maxCalls, maxCost, maxTokens, maxTurnTokens } = limitsOf(limits)
  const used = uncachedTokens(tokens)
  if (maxTokens !== undefined && used > maxTokens) {
    return `The turn used ${used} tokens; what was left of the budget (limits.tokenBudget) was ${maxTokens}.`
  }
  if (maxCost !== undefined && cost > maxCost) {
    return `The turn cost $${cost.toFixed(2)}; what was left of the budget (limits.costBudget) was $${maxCost.toFixed(2)}.`
  }
  if (maxTurnTokens !== undefined && used > maxTurnTokens) {
    return `The turn used ${used} tokens; one turn may use ${maxTurnTokens} (limits.maxTurnTokens).`
  }
  return maxCalls !== undefined && calls > maxCalls
    ? `The turn called the model ${calls} times; one turn may call it ${maxCalls} times (limits.maxTurnCalls).`
    : undefined
}

const charactersText = (characters: number): string =>
  `${characters.toLocaleString("en").replaceAll(",", " ")} characters`

/** An answer that is too long to be kept, read again and shown. The agent is stopped while it still writes it. */
export const answerReached = (
  { writing: { characters } }: Pick<PromptState, "writing">,
  longest: number
): ReachedLimit | undefined =>
  characters > longest
    ? {
        kind: "turn-limit",
        message: `The agent was stopped: it had written ${charactersText(characters)} in one answer, and one may have ${charactersText(longest)}. To continue is to let it write less; what it wrote is in its conversation.`
      }
    : undefined

/**
 * While the runtime retries only `maxWait` counts, and while a human is asked no time counts at all. What a human does
 * in the session is not part of the turn's time.
 */
export const reachedLimit = (
  state: PromptState,
  work: Pick<WorkOf<"RunPrompt">, "limits" | "turnStartedAt" | "turnWaitedMs" | "usedBefore">,
  maxWait: Duration.Duration,
  now: number
): ReachedLimit | undefined => {
  const { inactivityMs, wallMs } = limitsOf(work.limits)
  const spent = usageReached(work.limits, addUsage(work.usedBefore, state.used))
  if (spent !== undefined) return { kind: "turn-limit", message: spent }
  if (state.recovering !== undefined) {
    const waitedMs = now - state.recovering.sinceMs
    if (waitedMs <= Duration.toMillis(maxWait)) return undefined
    const message = `The runtime retried for ${durationText(waitedMs)} without success.`
    return { kind: failureKindOf(state.recovering.kind), message, waitedMs }
  }
  if (state.openQuestions.size > 0) return undefined
  const turnMs = now - Date.parse(work.turnStartedAt) - work.turnWaitedMs - humanMs(state, now)
  if (wallMs !== undefined && turnMs > wallMs) {
    return { kind: "timeout", message: `The turn took longer than its limit of ${durationText(wallMs)}.` }
  }
  return inactivityMs !== undefined && now - state.activeMs > inactivityMs
    ? { kind: "timeout", message: `The agent showed no activity for ${durationText(inactivityMs)}.` }
    : undefined
}
