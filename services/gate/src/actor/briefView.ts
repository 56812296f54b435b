/** Questions in lists: there may be ten thousand, and their evidence is looked at one at a time. */
import { defined, type EscalationLine, type EscalationView } from "@reprise/protocol"

const longestReason = 400

/** Where it stands and how its reason begins; the question itself has the rest. */
export const briefView = ({ evidence, items: _, reason, ...question }: EscalationView): EscalationView => {
  const { attempt, phaseTitle, planPath, planTitle } = evidence
  return {
    ...question,
    reason: reason.length <= longestReason ? reason : `${reason.slice(0, longestReason)}…`,
    evidence: defined({ attempt, phaseTitle, planPath, planTitle })
  }
}

/** A line of a list. */
export const escalationLine = (question: EscalationView): EscalationLine => {
  const { escalationId, evidence, options, origin, phase, raisedAt, reason, runId, step } = briefView(question)
  return {
    ...{ escalationId, runId, origin, reason, raisedAt },
    ...defined({ phase, step, planPath: evidence.planPath }),
    choices: options.map(({ keys, name }) => keys[0] ?? name).join(" ")
  }
}
