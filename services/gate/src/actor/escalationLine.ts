/** A question as a line of a list: there may be ten thousand. */
import { defined, type EscalationLine, type EscalationView } from "@reprise/protocol"
import { briefView } from "./briefView.ts"

export const escalationLine = (question: EscalationView): EscalationLine => {
  const { escalationId, evidence, options, origin, phase, raisedAt, reason, runId, step } = briefView(question)
  return {
    ...{ escalationId, runId, origin, reason, raisedAt },
    ...defined({ phase, step, planPath: evidence.planPath }),
    choices: options.map(({ keys, name }) => keys[0] ?? name).join(" ")
  }
}
