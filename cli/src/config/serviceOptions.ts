/** The options of runs and services, from the settings and the flags of a command. Pure. */
import type { PhaseId, RunOptions, TurnLimits } from "@reprise/protocol"
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
  const { continuation, gates, limits, model, permissions, reviewerModel, reviewPath, runtime, workspace } = settings
  return {
    ...flags,
    ...workspace,
    runtime,
    ...(model === undefined ? {} : { model }),
    ...(reviewerModel === undefined ? {} : { reviewerModel }),
    permissions,
    reviewPath,
    gates,
    limits,
    continuation,
    prompts
  }
}

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
