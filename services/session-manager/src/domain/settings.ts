import { type ActionSettings, defaultActions } from "./actions/Action.ts"

export {
  type ActionSettings,
  defaultActions,
  ErrorActions,
  GoneActions,
  IdleActions,
  PromptActions
} from "./actions/Action.ts"

/** How patient the session-manager is. Durations in milliseconds. */
export interface SessionSettings {
  /** A session without a turn is paused after this long. */
  readonly idleAfterMs: number
  /** A paused session that no phase needs expires after this long. */
  readonly expireAfterMs: number
  /** How long a turn waits in all for a rate limit, for credit or for the network. */
  readonly maxWaitMs: number
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** How often a turn that met the runtime's turn limit goes on by itself. */
  readonly maxAutoContinues: number
  /** Idle is believed after this long without a sign of life. */
  readonly idleGraceMs: number
  readonly actions: ActionSettings
}

export const defaultSettings: SessionSettings = {
  idleAfterMs: 5 * 60_000,
  expireAfterMs: 30 * 60_000,
  maxWaitMs: 60 * 60_000,
  firstWaitMs: 30_000,
  longestWaitMs: 30 * 60_000,
  maxAutoContinues: 6,
  idleGraceMs: 10_000,
  actions: defaultActions
}

/** The ISO time `ms` after another. */
export const after = (iso: string, ms: number): string => new Date(Date.parse(iso) + ms).toISOString()
