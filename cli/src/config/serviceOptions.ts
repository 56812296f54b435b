/** The options of runs and services, from the settings and the flags of a command. Pure. */
import type { PhaseId, RunOptions, RuntimeName, TurnLimits } from "@reprise/protocol"
import { defaultActions, type SessionSettings } from "@reprise/session-manager/settings"
import type { Settings } from "./settingsTable.ts"

export interface RunFlags {
  readonly auto: boolean
  readonly allowDirty: boolean
  readonly skipQuality: boolean
  readonly startPhase?: PhaseId
}

export const noRunFlags: RunFlags = { auto: false, allowDirty: false, skipQuality: false }

/** `prompts`: the user's texts that replace prompt templates, by name. */
export const runOptions = (settings: Settings, flags: RunFlags, prompts: RunOptions["prompts"] = {}): RunOptions => {
  const { continuation, gates, limits, model, permissions, reviewPath, runtime, workspace } = settings
  const { reviewerModel, reviewerRuntime } = settings
  return {
    ...flags,
    ...workspace,
    runtime,
    ...(model === undefined ? {} : { model }),
    ...(reviewerModel === undefined ? {} : { reviewerModel }),
    ...(reviewerRuntime === undefined ? {} : { reviewerRuntime }),
    permissions,
    reviewPath,
    gates,
    limits,
    continuation,
    prompts
  }
}

/** The runtimes of a run's agents: the author's, and the reviewer's if it is another one. */
export const runtimesOf = ({
  reviewerRuntime,
  runtime
}: {
  readonly reviewerRuntime?: RuntimeName | undefined
  readonly runtime: RuntimeName
}): ReadonlyArray<RuntimeName> =>
  reviewerRuntime === undefined || reviewerRuntime === runtime ? [runtime] : [runtime, reviewerRuntime]

/** 0 switches a limit off. */
const limit = <Name extends keyof TurnLimits>(name: Name, value: number) => (value > 0 ? { [name]: value } : {})

/** The limits of a standalone session are those of a run's turns; the token budget is the whole session's. */
export const sessionLimits = ({ limits }: Settings): TurnLimits => ({
  ...limit("inactivityMs", limits.turnInactivityMs),
  ...limit("wallMs", limits.turnWallMs),
  ...limit("maxAgentTurns", limits.maxAgentTurns),
  ...limit("maxCalls", limits.maxTurnCalls),
  ...limit("maxTurnTokens", limits.maxTurnTokens),
  ...limit("maxTokens", limits.tokenBudget),
  ...limit("maxCost", limits.costBudget)
})

/** The session-manager's part of the settings. */
export const sessionSettings = ({ sessions }: Settings): Partial<SessionSettings> => {
  const { onError, onGone, onIdle, onPrompt, ...times } = sessions
  return {
    ...times,
    actions: { onIdle, onGone, onPrompt, onError: { ...defaultActions.onError, ...onError } }
  }
}
