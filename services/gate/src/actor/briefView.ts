/** A question in a list: there may be a thousand, and their evidence is looked at one at a time. */
import { defined, type EscalationView } from "@reprise/protocol"

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
