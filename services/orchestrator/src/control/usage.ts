/** What turns have cost: for the budgets, the view and the summary. */
import { addTokens, noTokens, type PhaseId, type Role, reviewKey, type Tokens } from "@reprise/protocol"
import type { InputOf } from "../actor/inputs.ts"
import type { EventOf, RunEvents } from "../actor/journal.ts"
import type { Evolution, PhaseUsage, Run, Saving } from "../actor/state.ts"

/** Author and reviewer together. */
export const allTokens = (run: Run): Tokens => addTokens(run.usage.author.tokens, run.usage.reviewer.tokens)

/** What a token budget counts: everything but what the vendor's cache served. */
export const usedTokens = (run: Run): number => {
  const { cacheWrite, input, output, reasoning } = allTokens(run)
  return input + output + reasoning + cacheWrite
}

/** US dollars. */
export const usedCost = (run: Run): number => run.usage.author.cost + run.usage.reviewer.cost

const roleOf = (run: Run, { phase, role, turnId }: InputOf<"TurnCompleted" | "TurnFailed">): Role =>
  role ?? (phase !== undefined && turnId.startsWith(`${reviewKey(run.runId, phase)}-`) ? "reviewer" : "author")

/** Each turn is counted once, however often and late it is reported. */
export const countTurn = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): RunEvents =>
  run.counted.includes(event.turnId)
    ? []
    : [
        {
          _tag: "TurnCounted",
          turnId: event.turnId,
          ...(event.phase === undefined ? {} : { phase: event.phase }),
          role: roleOf(run, event),
          tokens: event.tokens,
          cost: event.cost
        }
      ]

/** There is one entry for each phase and role. */
const phaseUsage = (run: Run, { cost, phase, role, tokens }: EventOf<"TurnCounted">): Run["phaseUsage"] => {
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

const turnCounted = (run: Run, event: EventOf<"TurnCounted">): Run => {
  const { cost, role, tokens, turnId } = event
  const before = run.usage[role]
  const after = { tokens: addTokens(before.tokens, tokens), cost: before.cost + cost, turns: before.turns + 1 }
  return {
    ...run,
    usage: { ...run.usage, [role]: after },
    phaseUsage: phaseUsage(run, event),
    counted: [...run.counted, turnId],
    reusing: run.reusing.filter((turn) => turn !== turnId),
    savings: run.reusing.includes(turnId)
      ? addSaving(run, event.phase, { continuedTurns: 1, cachedTokens: tokens.cacheRead })
      : run.savings
  }
}

export const usageEvolution = { TurnCounted: turnCounted } satisfies Partial<Evolution>
