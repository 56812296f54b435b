/**
 * Whether a turn has reached one of its limits: its token budget, its time (`wallMs`), the time that its agent may be
 * silent (`inactivityMs`), and the time that the runtime may retry.
 */
import type { FailureKind, TurnLimits } from "@reprise/protocol"
import type { WorkOf } from "../actor/work.ts"
import { type PromptState, totalOf } from "./promptState.ts"
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
export const limitsOf = ({ inactivityMs, maxTokens, wallMs }: TurnLimits) => ({
  inactivityMs: positive(inactivityMs),
  maxTokens: positive(maxTokens),
  wallMs: positive(wallMs)
})

const durationText = (ms: number): string => (ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1000} s`)

/** While the runtime retries only `maxWaitMs` counts, and while a human is asked no time counts at all. */
export const reachedLimit = (
  state: PromptState,
  work: Pick<WorkOf<"RunPrompt">, "limits" | "turnStartedAt" | "turnWaitedMs" | "usedBefore">,
  maxWaitMs: number,
  now: number
): ReachedLimit | undefined => {
  const { inactivityMs, maxTokens, wallMs } = limitsOf(work.limits)
  const used = totalOf(work.usedBefore) + totalOf(state.tokens)
  if (maxTokens !== undefined && used > maxTokens) {
    return { kind: "turn-limit", message: `The turn used ${used} tokens; its budget is ${maxTokens}.` }
  }
  if (state.recovering !== undefined) {
    const waitedMs = now - state.recovering.sinceMs
    if (waitedMs <= maxWaitMs) return undefined
    const message = `The runtime retried for ${durationText(waitedMs)} without success.`
    return { kind: failureKindOf(state.recovering.kind), message, waitedMs }
  }
  if (state.openQuestions.size > 0) return undefined
  const turnMs = now - Date.parse(work.turnStartedAt) - work.turnWaitedMs - state.waitedForHumanMs
  if (wallMs !== undefined && turnMs > wallMs) {
    return { kind: "timeout", message: `The turn took longer than its limit of ${durationText(wallMs)}.` }
  }
  return inactivityMs !== undefined && now - state.activeMs > inactivityMs
    ? { kind: "timeout", message: `The agent showed no activity for ${durationText(inactivityMs)}.` }
    : undefined
}
