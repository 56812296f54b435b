/** What a run has used by phase and role, and what its continued sessions kept. Pure. */
import {
  addUsage,
  type ConsoleEvent,
  noUsage,
  type PublicEvent,
  type RunView,
  type Usage,
  uncachedTokens
} from "@reprise/protocol"
import type { PhaseEntry, StepEntry } from "./timeline.ts"

export interface PhaseSpending {
  /** The phase's id. */
  readonly phase: string
  /** The fixer's among them. */
  readonly authorTokens: number
  readonly reviewerTokens: number
  /** US dollars. */
  readonly authorCost: number
  readonly reviewerCost: number
}

const sumOf = (steps: ReadonlyArray<StepEntry>): Usage =>
  steps.reduce((sum, { usage }) => addUsage(sum, usage), noUsage)

/** For each phase that an agent has worked on. Tokens that came from a cache are left out, as in the cost of most models. */
export const spendingOf = (timeline: ReadonlyArray<PhaseEntry>): ReadonlyArray<PhaseSpending> =>
  timeline.flatMap(({ id, steps }) => {
    if (id === undefined) return []
    const author = sumOf(steps.filter(({ step }) => step !== "REVIEW"))
    const reviewer = sumOf(steps.filter(({ step }) => step === "REVIEW"))
    if (addUsage(author, reviewer).calls === 0) return []
    return [
      {
        phase: id,
        authorTokens: uncachedTokens(author.tokens),
        reviewerTokens: uncachedTokens(reviewer.tokens),
        authorCost: author.cost,
        reviewerCost: reviewer.cost
      }
    ]
  })

const isTurnsEnd = (event: PublicEvent): event is Extract<PublicEvent, { readonly _tag: "TurnCompleted" }> =>
  event._tag === "TurnCompleted"

export interface Kept {
  /** Turns that began in a session with earlier turns. */
  readonly turns: number
  /** The context that these sessions had when the turns began, in tokens, summed up. */
  readonly tokens: number
}

/** What continued sessions already knew, as far as their runtimes tell the size of the context. */
export const keptOf = (story: ReadonlyArray<ConsoleEvent>): Kept => {
  const context = new Map<string, number>()
  let turns = 0
  let tokens = 0
  for (const { event } of story) {
    if (event._tag === "TurnStarted" && context.has(event.sessionId)) {
      turns += 1
      tokens += context.get(event.sessionId) ?? 0
    }
    if (isTurnsEnd(event)) context.set(event.sessionId, event.context?.tokens ?? context.get(event.sessionId) ?? 0)
  }
  return { turns, tokens }
}

/** Of all roles together. */
export const usedInAll = ({ author, fixer, reviewer }: RunView["usage"]): Usage =>
  addUsage(addUsage(author, reviewer), fixer ?? noUsage)

/** Whether any model that worked has a price. */
export const hasCost = (usage: RunView["usage"]): boolean => usedInAll(usage).cost > 0
