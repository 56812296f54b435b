/** What is known about a prompt while it runs. `turnLimits.ts` says whether it has reached a limit. */
import type { Inspection } from "@reprise/agent"
import {
  maxUsage,
  noTokens,
  noUsage,
  type RuntimeFailure,
  subtractUsage,
  type Tokens,
  type Usage,
  uncachedTokens
} from "@reprise/protocol"
import type { WorkOf } from "../actor/work.ts"

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
  /** What this attempt has used, as events tell: whether the agent has done anything in it. */
  readonly tokens: Tokens
  /** What all attempts at the prompt have used, as far as it is known. */
  readonly used: Usage
}

export const promptStarted = ({ kind }: Pick<WorkOf<"RunPrompt">, "kind">, now: number): PromptState => ({
  activeMs: now,
  openQuestions: new Set(),
  waitedForHumanMs: 0,
  workingReported: kind !== "work" && kind !== "continuation",
  progressShownMs: 0,
  inspected: "",
  tokens: noTokens,
  used: noUsage
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

const allOf = (tokens: Tokens): number => uncachedTokens(tokens) + tokens.cacheRead

/** A session that has changed since the last inspection is active, also when no event told of it. */
export const inspectedAt = (
  state: PromptState,
  { lastMessage, messageCount, usage }: Inspection,
  { counted }: Pick<WorkOf<"RunPrompt">, "counted">,
  now: number
): PromptState => {
  const inspected = `${messageCount} ${allOf(usage.tokens)} ${lastMessage?.id} ${lastMessage?.finished}`
  if (inspected === state.inspected) return state
  const used = counted === undefined ? state.used : maxUsage(state.used, subtractUsage(usage, counted))
  return { ...activeAt(state, now), inspected, used }
}

/** An event told what this attempt at the prompt has used so far. */
export const tokensSeen = (state: PromptState, tokens: Tokens): PromptState => ({
  ...state,
  tokens,
  used: maxUsage(state.used, { ...noUsage, tokens })
})
