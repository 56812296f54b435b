/** Choices that nobody can take back. */
import type { EscalationView } from "@reprise/protocol"

/** Whether the agent named the options: then one called `abort` need not end the run. */
export const hasAgentOptions = ({ evidence, origin }: EscalationView): boolean =>
  origin === "permission" || origin === "question" || evidence.checkpoint?.type === "decision"

/** Whether the choice ends the run for good, or lets unfinished work pass. */
export const isFinalChoice = (question: EscalationView, choice: string): boolean =>
  (choice === "abort" || choice === "override") && !hasAgentOptions(question)
