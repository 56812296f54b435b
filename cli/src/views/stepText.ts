/** The steps of a run in words. Pure. */
import type { Step } from "@reprise/protocol"

/** What a step does, in words. */
export const stepWords = (step: Step, phase: string): string => {
  switch (step) {
    case "PREPARE":
      return "Preparing the workspace"
    case "EXECUTE":
      return `Author works on ${phase}`
    case "QUALITY_CHECK":
      return "Running the quality gates"
    case "QUALITY_RETRY":
      return "Author fixes the failed quality gates"
    case "REVIEW":
      return `Reviewing ${phase}`
    case "AUTO_FIX":
      return "Author fixes the reviewer's findings"
    case "CHECKPOINT":
      return "Checkpoint"
    case "ESCALATE":
      return "Asking a human"
    case "PHASE_GATE":
      return `Approving ${phase}`
    case "PHASE_COMPLETE":
      return `Completing ${phase}`
  }
}

const names: Readonly<Record<Step, string>> = {
  PREPARE: "preparation",
  EXECUTE: "author's work",
  QUALITY_CHECK: "quality gates",
  QUALITY_RETRY: "fixing failed quality gates",
  REVIEW: "review",
  AUTO_FIX: "fixing findings",
  CHECKPOINT: "checkpoint",
  ESCALATE: "question",
  PHASE_GATE: "approval",
  PHASE_COMPLETE: "completion"
}

/** What a step is, for a table or the middle of a sentence. */
export const stepName = (step: Step): string => names[step]
