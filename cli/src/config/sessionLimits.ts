/** The limits of a standalone session, which are those of a run's turns. Pure. */
import type { TurnLimits } from "@reprise/protocol"
import { type Config, get } from "./Config.ts"

const named = <Name extends keyof TurnLimits>(config: Config, path: string, name: Name) => {
  const value = get<number>(config, path)
  return value > 0 ? { [name]: value } : {}
}

/** 0 switches a limit off. The token budget is the whole session's. */
export const sessionLimits = (config: Config): TurnLimits => ({
  ...named(config, "limits.turnInactivityMs", "inactivityMs"),
  ...named(config, "limits.turnWallMs", "wallMs"),
  ...named(config, "limits.maxAgentTurns", "maxAgentTurns"),
  ...named(config, "limits.tokenBudget", "maxTokens")
})
