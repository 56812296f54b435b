/** What is known of a prompt while it runs, and whether it has reached a limit. */
import type { Inspection } from "@reprise/agent"
import { type FailureKind, noTokens, type RuntimeFailure, type Tokens, type TurnLimits } from "@reprise/protocol"
import type { WorkOf } from "../actor/work.ts"
import { failureKindOf } from "./report.ts"

export interface PromptState {
  /** When the agent last showed activity, in epoch milliseconds as all times here. */
  readonly activeMs: number
  /** Questions of the agent that nobody has answered. */
  readonly openQuestions: ReadonlySet<string>
  /** Since when a question has been open. */
  readonly askedMs?: number
  /** How long questions were open before. */
  readonly waitedForHumanMs: number
  /** The runtime has been retrying since then. */
  readonly recovering?: { readonly sinceMs: number; readonly kind: RuntimeFailure }
  /** `RecordWorking` was sent, or is not wanted for this prompt. */
  readonly workingReported: boolean
  readonly progressShownMs: number
  /** What the last inspection saw. */
  readonly inspected: string
  readonly tokens: Tokens
}

export const promptStarted = ({ kind }: Pick<WorkOf<"RunPrompt">, "kind">, now: number): PromptState => ({
  activeMs: now,
  openQuestions: new Set(),
  waitedForHumanMs: 0,
  workingReported: kind !== "work" && kind !== "continuation",
  progressShownMs: 0,
  inspected: "",
  tokens: noTokens
})

export const activeAt = ({ recovering: _, ...state }: PromptState, now: number): PromptState => ({
  ...state,
  activeMs: now
})

export const questionAsked = (state: PromptState, promptId: string, now: number): PromptState => ({
  ...state,
  openQuestions: new Set([...state.openQuestions, promptId]),
  askedMs: state.askedMs ?? now
})

/** Waiting for a human does not count as inactivity. */
export const questionAnswered = ({ askedMs, ...state }: PromptState, promptId: string, now: number): PromptState => {
  const openQuestions = new Set([...state.openQuestions].filter((id) => id !== promptId))
  if (openQuestions.size > 0 || askedMs === undefined) {
    return { ...state, openQuestions, ...(askedMs === undefined ? {} : { askedMs }) }
  }
  return { ...state, openQuestions, activeMs: now, waitedForHumanMs: state.waitedForHumanMs + now - askedMs }
}

export const recoveringAt = (state: PromptState, kind: RuntimeFailure, now: number): PromptState => ({
  ...state,
  recovering: state.recovering ?? { sinceMs: now, kind }
})

const totalOf = (tokens: Tokens): number =>
  tokens.input + tokens.output + tokens.reasoning + tokens.cacheRead + tokens.cacheWrite

/** A session that has changed since the last inspection is active, also when no event told of it. */
export const inspectedAt = (
  state: PromptState,
  { lastMessage, messageCount, tokens }: Inspection,
  now: number
): PromptState => {
  const inspected = `${messageCount} ${totalOf(tokens)} ${lastMessage?.id} ${lastMessage?.finished}`
  return inspected === state.inspected ? state : { ...activeAt(state, now), inspected }
}

/** Why a prompt must not go on. */
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
