/** What is known about a prompt while it runs. `turnLimits.ts` says whether it has reached a limit. */
import type { Inspection } from "@reprise/agent"
import {
  defined,
  maxUsage,
  noTokens,
  noUsage,
  type RuntimeFailure,
  subtractUsage,
  type Tokens,
  type Usage,
  uncachedTokens
} from "@reprise/protocol"
import type { WorkOf } from "../session/work.ts"

export interface PromptState {
  /** When the agent last showed activity, in epoch milliseconds as all times here. */
  readonly activeMs: number
  /** Questions of the agent that nobody has answered. */
  readonly openQuestions: ReadonlySet<string>
  /** All that it has asked, in the order in which that was seen. */
  readonly questions: ReadonlyArray<string>
  /** A human works in the session, or has only just rested. */
  readonly humanPresent: boolean
  /** When the human's time began: a question is open, or they are present. */
  readonly humanSinceMs?: number
  /** How long it was theirs before. */
  readonly waitedForHumanMs: number
  /** The runtime has been retrying since then. */
  readonly recovering?: { readonly sinceMs: number; readonly kind: RuntimeFailure }
  /** `RecordWorking` was sent, or is not wanted for this prompt. */
  readonly workingReported: boolean
  readonly progressShownMs: number
  /** What the last inspection saw. */
  readonly inspected: string
  /** The answer that is being written, and how long it is so far. */
  readonly writing: { readonly part: string; readonly characters: number }
  /** What this attempt has used, as events tell: whether the agent has done anything in it. */
  readonly tokens: Tokens
  /** What all attempts at the prompt have used, as far as it is known. */
  readonly used: Usage
}

export const promptStarted = ({ kind }: Pick<WorkOf<"RunPrompt">, "kind">, now: number): PromptState => ({
  activeMs: now,
  openQuestions: new Set(),
  questions: [],
  humanPresent: false,
  waitedForHumanMs: 0,
  workingReported: kind !== "work" && kind !== "continuation",
  progressShownMs: 0,
  inspected: "",
  writing: { part: "", characters: 0 },
  tokens: noTokens,
  used: noUsage
})

export const activeAt = ({ recovering: _, ...state }: PromptState, now: number): PromptState => ({
  ...state,
  activeMs: now
})

/** The agent has written more. Also what is told to nobody, since they could not read so fast, counts. */
export const wordsSeen = (
  state: PromptState,
  { omitted, part, text }: { readonly part: string; readonly text: string; readonly omitted: number }
): PromptState => {
  const before = state.writing.part === part ? state.writing.characters : 0
  return { ...state, writing: { part, characters: before + omitted + text.length } }
}

/** How much of the time so far was the human's. */
export const humanMs = ({ humanSinceMs, waitedForHumanMs }: PromptState, now: number): number =>
  waitedForHumanMs + (humanSinceMs === undefined ? 0 : now - humanSinceMs)

/** The human's time begins or ends with the first or the last reason for it, so that none of it counts twice. */
const humanTimeAt = ({ humanSinceMs, ...state }: PromptState, now: number): PromptState =>
  state.openQuestions.size > 0 || state.humanPresent
    ? { ...state, humanSinceMs: humanSinceMs ?? now }
    : {
        ...state,
        waitedForHumanMs: humanMs({ ...state, ...defined({ humanSinceMs }) }, now)
      }

export const questionAsked = (state: PromptState, promptId: string, now: number): PromptState =>
  humanTimeAt(
    {
      ...state,
      openQuestions: new Set([...state.openQuestions, promptId]),
      questions: [...state.questions, promptId]
    },
    now
  )

/** What was asked before this question. */
export const askedBefore = ({ questions }: PromptState, promptId: string): ReadonlyArray<string> =>
  questions.slice(0, questions.indexOf(promptId))

/** Waiting for a human does not count as inactivity. */
export const questionAnswered = (state: PromptState, promptId: string, now: number): PromptState => {
  const openQuestions = new Set([...state.openQuestions].filter((id) => id !== promptId))
  const isLast = state.openQuestions.size > 0 && openQuestions.size === 0
  return humanTimeAt({ ...state, openQuestions, ...(isLast ? { activeMs: now } : {}) }, now)
}

/** Whether a human is present was looked at. Their agent may hang as any other: being silent counts as inactivity. */
export const humanSeen = (state: PromptState, humanPresent: boolean, now: number): PromptState =>
  state.humanPresent === humanPresent ? state : humanTimeAt({ ...state, humanPresent }, now)

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
  const used = maxUsage(state.used, subtractUsage(usage, counted))
  return { ...activeAt(state, now), inspected, used }
}

/** An event told what this attempt at the prompt has used so far. */
export const tokensSeen = (state: PromptState, tokens: Tokens): PromptState => ({
  ...state,
  tokens,
  used: maxUsage(state.used, { ...noUsage, tokens })
})
