/** What the session-manager takes of the configuration. Pure. */
import { type ActionSettings, defaultActions, type SessionSettings } from "@reprise/session-manager/settings"
import { type Config, get } from "./Config.ts"

export const sessionSettings = (config: Config): Partial<SessionSettings> => ({
  idleAfterMs: get(config, "sessions.idleAfterMs"),
  expireAfterMs: get(config, "sessions.expireAfterMs"),
  maxWaitMs: get(config, "sessions.maxWaitMs"),
  maxAutoContinues: get(config, "sessions.maxAutoContinues"),
  idleGraceMs: get(config, "sessions.idleGraceMs"),
  actions: {
    onIdle: get(config, "sessions.onIdle"),
    onGone: get(config, "sessions.onGone"),
    onPrompt: get(config, "sessions.onPrompt"),
    onError: { ...defaultActions.onError, ...get<Partial<ActionSettings["onError"]>>(config, "sessions.onError") }
  }
})
