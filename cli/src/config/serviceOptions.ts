/** The options of runs and services, from the settings and the flags of a command. Pure. */
import { plannedAgents } from "@reprise/orchestrator/agents"
import {
  budgetLimitsOf,
  type PhaseId,
  type RunOptions,
  type RuntimeName,
  type TurnLimits,
  turnLimitsOf
} from "@reprise/protocol"
import { defaultActions, type SessionSettings } from "@reprise/session-manager/settings"
import { Duration } from "effect"
import type { Settings } from "./settingsTable.ts"

export interface RunFlags {
  readonly auto: boolean
  readonly allowDirty: boolean
  readonly skipQuality: boolean
  readonly startPhase?: PhaseId
}

export const noRunFlags: RunFlags = { auto: false, allowDirty: false, skipQuality: false }

/** Without what is not set. */
const given = <A extends object>(values: A): { readonly [K in keyof A]?: NonNullable<A[K]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never

type AgentOptions = Parameters<typeof plannedAgents>[0]

/** Which agents a run has, by role and rule. */
export const agentOptions = (settings: Settings): AgentOptions => {
  const { author, fixer, model, reviewer, reviewerModel, reviewerRuntime, runtime } = settings
  return {
    runtime,
    ...given({ model, reviewerModel, reviewerRuntime }),
    author: { rules: author.rules, ...given({ variant: author.variant }) },
    reviewer: { rules: reviewer.rules, ...given({ variant: reviewer.variant }) },
    fixer: { rules: fixer.rules, ...given({ runtime: fixer.runtime, model: fixer.model, variant: fixer.variant }) }
  }
}

/** `prompts`: the user's texts that replace prompt templates, by name. */
export const runOptions = (settings: Settings, flags: RunFlags, prompts: RunOptions["prompts"] = {}): RunOptions => {
  const { continuation, gates, limits, permissions, reviewPath, workspace } = settings
  return {
    ...flags,
    ...workspace,
    ...agentOptions(settings),
    permissions,
    reviewPath,
    gates,
    limits,
    continuation,
    prompts
  }
}

/** The runtimes of a run's agents, that of the author first. */
export const runtimesOf = (options: AgentOptions): ReadonlyArray<RuntimeName> => [
  ...new Set(plannedAgents(options).map(({ runtime }) => runtime))
]

/** The same for what is configured. */
export const configuredRuntimes = (settings: Settings): ReadonlyArray<RuntimeName> => runtimesOf(agentOptions(settings))

/** The limits of a standalone session are those of a run's turns; the token budget is the whole session's. */
export const sessionLimits = ({ limits }: Settings): TurnLimits => ({
  ...turnLimitsOf(limits),
  ...budgetLimitsOf(limits)
})

type Durations<Settings> = {
  readonly [Name in keyof Settings as Name extends `${infer Short}Ms` ? Short : never]: Duration.Duration
}

/** Settings in milliseconds as durations, each under its own name. */
const durations = <Settings extends Readonly<Record<`${string}Ms`, number>>>(settings: Settings): Durations<Settings> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, ms]) => [name.replace(/Ms$/, ""), Duration.millis(ms)])
  ) as never

/** The session-manager's part of the settings. */
export const sessionSettings = ({ sessions }: Settings): Partial<SessionSettings> => {
  const { maxAutoContinues, onError, onGone, onIdle, onPrompt, report, ...times } = sessions
  return {
    maxAutoContinues,
    report,
    ...durations(times),
    actions: { onIdle, onGone, onPrompt, onError: { ...defaultActions.onError, ...onError } }
  }
}
