/** The limits of a turn. */
import { type TurnLimits, turnLimitsOf } from "@reprise/protocol"
import { ownTurnLimits } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { budgetsLeft } from "./usage.ts"

/** A turn may use what is left of the budgets. */
export const turnLimits = (run: Run): TurnLimits => ({
  ...(ownTurnLimits(run) ?? limitsOfOptions(run)),
  ...budgetsLeft(run)
})

const limitsOfOptions = ({ request }: Run): TurnLimits => {
  const { auto, limits } = request.options
  // Nobody is asked how to go on: a vendor's limit that ends within hours must not end the run.
  const patience = auto && limits.unattendedWaitMs > 0 ? { maxWaitMs: limits.unattendedWaitMs } : {}
  return { ...turnLimitsOf(limits), ...patience }
}
