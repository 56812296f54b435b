/** What the run has used: for the budgets, the view and the summary. */
import {
  type AgentRole,
  addTokens,
  addUsage,
  defined,
  noTokens,
  noUsage,
  type PhaseId,
  type Role,
  reviewKey,
  type Tokens,
  type TurnLimits,
  type Usage,
  uncachedTokens
} from "@reprise/protocol"
import { type Evolution, type Handlers, ignored } from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf, RunEvents } from "../run/journal.ts"
import { budgetsOf } from "../run/standalone.ts"
import type { PhaseUsage, Run, Saving } from "../run/state.ts"

const inAll = ({ usage: { author, fixer, reviewer } }: Run): Usage =>
  addUsage(addUsage(author, reviewer), fixer ?? noUsage)

/** Of all roles together. */
export const allTokens = (run: Run): Tokens => inAll(run).tokens

export const usedTokens = (run: Run): number => uncachedTokens(allTokens(run))

/** US dollars. */
export const usedCost = (run: Run): number => inAll(run).cost

const leastCost = 0.000_001

/** What is left of the budgets, for the next turn: something, since 0 would switch the limit off. */
export const budgetsLeft = (run: Run): Pick<TurnLimits, "maxTokens" | "maxCost"> => {
  const { cost, tokens } = budgetsOf(run)
  return {
    ...(tokens > 0 ? { maxTokens: Math.max(tokens + run.granted.tokens - usedTokens(run), 1) } : {}),
    ...(cost > 0 ? { maxCost: Math.max(cost + run.granted.cost - usedCost(run), leastCost) } : {})
  }
}

const roleOf = (run: Run, { phase, role, turnId }: InputOf<"TurnCompleted" | "TurnFailed">): Role =>
  role ?? (phase !== undefined && turnId.startsWith(`${reviewKey(run.runId, phase)}-`) ? "reviewer" : "author")

/** The fixer works in a session of an author. */
const agentRoleOf = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): AgentRole => {
  const role = roleOf(run, event)
  return role === "author" && event.fixer === true ? "fixer" : role
}

const usageIn = ({ calls, cost, tokens }: Usage): Usage => ({ calls, cost, tokens })

/** A turn that is reported again is one of the last, since the same report is decided once however late it comes. */
const rememberedTurns = 200

/** Each turn is counted once, however often and late it is reported. */
export const countTurn = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): RunEvents =>
  run.counted.includes(event.turnId)
    ? []
    : [
        {
          _tag: "TurnCounted",
          turnId: event.turnId,
          ...defined({ phase: event.phase }),
          role: agentRoleOf(run, event),
          ...usageIn(event)
        }
      ]

/** What was used outside of the turns that were reported. */
export const countOthers = ({ phase, role, ...event }: InputOf<"UsageCounted">): RunEvents => [
  { _tag: "UsageAdded", ...defined({ phase }), role, ...usageIn(event) }
]

/** There is one entry for each phase and role. */
const phaseUsage = (
  run: Run,
  { cost, phase, role, tokens }: EventOf<"TurnCounted" | "UsageAdded">
): Run["phaseUsage"] => {
  if (phase === undefined) return run.phaseUsage
  const isSame = (entry: PhaseUsage) => entry.phase === phase && entry.role === role
  const before = run.phaseUsage.find(isSame) ?? { tokens: noTokens, cost: 0 }
  const after = { phase, role, tokens: addTokens(before.tokens, tokens), cost: before.cost + cost }
  return [...run.phaseUsage.filter((entry) => !isSame(entry)), after]
}

/** There is one entry for each phase. */
const addSaving = (run: Run, phase: PhaseId | undefined, more: Partial<Omit<Saving, "phase">>): Run["savings"] => {
  if (phase === undefined) return run.savings
  const before = run.savings.find((entry) => entry.phase === phase)
  const after: Saving = {
    phase,
    continuedTurns: (before?.continuedTurns ?? 0) + (more.continuedTurns ?? 0),
    cachedTokens: (before?.cachedTokens ?? 0) + (more.cachedTokens ?? 0),
    unsentTokens: (before?.unsentTokens ?? 0) + (more.unsentTokens ?? 0)
  }
  return [...run.savings.filter((entry) => entry.phase !== phase), after]
}

/** A fresh author is not sent the conversation that its predecessor had. */
export const countHandover = (run: Run): Run => {
  const unsentTokens = run.phase?.author?.context?.tokens ?? 0
  return unsentTokens === 0 ? run : { ...run, savings: addSaving(run, run.phase?.id, { unsentTokens }) }
}

export const countSession = (run: Run, { kind, turnId }: EventOf<"SessionSeen">): Run =>
  kind === "reused"
    ? {
        ...run,
        sessionsReused: run.sessionsReused + 1,
        reusing: turnId === undefined ? run.reusing : [...run.reusing, turnId]
      }
    : { ...run, sessionsCreated: run.sessionsCreated + 1 }

const usageAdded = (run: Run, event: EventOf<"TurnCounted" | "UsageAdded">, turns: number): Run => {
  const { role } = event
  const before = run.usage[role] ?? { ...noUsage, turns: 0 }
  return {
    ...run,
    usage: { ...run.usage, [role]: { ...addUsage(before, event), turns: before.turns + turns } },
    phaseUsage: phaseUsage(run, event)
  }
}

const turnCounted = (run: Run, event: EventOf<"TurnCounted">): Run => {
  const { tokens, turnId } = event
  return {
    ...usageAdded(run, event, 1),
    counted: [...run.counted, turnId].slice(-rememberedTurns),
    reusing: run.reusing.filter((turn) => turn !== turnId),
    savings: run.reusing.includes(turnId)
      ? addSaving(run, event.phase, { continuedTurns: 1, cachedTokens: tokens.cacheRead })
      : run.savings
  }
}

export const usageEvolution = {
  TurnCounted: turnCounted,
  UsageAdded: (run, event) => usageAdded(run, event, 0)
} satisfies Partial<Evolution>

export const usageHandlers = {
  UsageCounted: ignored((_run, input) => countOthers(input))
} satisfies Partial<Handlers>
