import { defined, type EscalationView } from "@reprise/protocol"
import { contextOf, type EscalationState, namedAgent, notNotified } from "./state.ts"

/** The read model; undefined until the question is raised. */
export const view = (state: EscalationState): EscalationView | undefined => {
  if (state.question === undefined) return undefined
  const { origin, reason, options, items, evidence } = state.question
  const shown = {
    ...contextOf(state.question),
    origin,
    reason,
    options,
    ...defined({ items }),
    evidence,
    raisedAt: state.raisedAt
  }
  switch (state.status) {
    case "open": {
      const waiting = notNotified(state)
      return { ...shown, state: "open", ...(waiting.length === 0 ? {} : { notNotified: waiting }) }
    }
    case "answered": {
      const { at, by, choice, commit, guidance, via } = state.answer
      return {
        ...shown,
        state: "answered",
        choice,
        by,
        via,
        ...defined({ guidance }),
        ...namedAgent(state.answer),
        ...defined({ commit }),
        ...(state.overruled === undefined ? {} : { overruledFor: state.overruled.reason }),
        closedAt: at
      }
    }
    case "withdrawn":
      return { ...shown, state: "withdrawn", withdrawnFor: state.withdrawal.reason, closedAt: state.withdrawal.at }
  }
}
