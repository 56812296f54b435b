/** The limits of a turn. */
import type { TurnLimits } from "@reprise/protocol"
import { ownTurnLimits } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { budgetsLeft } from "./usage.ts"

const limit = <Name extends keyof TurnLimits>(name: Name, value: number) => (value === 0 ? {} : { [name]: value })

/** A limit of 0 is off. A turn may use what is left of the budgets. */
export const turnLimits = (run: Run): TurnLimits => ({
  ...(ownTurnLimits(run) ?? limitsOfOptions(run)),
  ...budgetsLeft(run)
})

const limitsOfOptions = ({ request }: Run): TurnLimits => {
  const { auto, limits } = request.options
  return {
    ...limit("inactivityMs", limits.turnInactivityMs),
    ...limit("wallMs", limits.turnWallMs),
    ...limit("maxAgentTurns", limits.maxAgentTurns),
    ...limit("maxCalls", limits.maxTurnCalls),
    ...limit("maxTurnTokens", limits.maxTurnTokens),
    // Nobody is asked how to go on: a vendor's limit that ends within hours must not end the run.
    ...(auto ? limit("maxWaitMs", limits.unattendedWaitMs) : {})
  }
}
