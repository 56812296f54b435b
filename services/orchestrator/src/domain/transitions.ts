/**
 * Every way from one step to another (run-machine). `StepStarted.cause` names one of these; a test compares the table
 * with what runs do.
 */
import type { Step } from "@reprise/protocol"

/** The steps in which an author works. */
const authorSteps = ["EXECUTE", "QUALITY_RETRY", "AUTO_FIX"] as const satisfies ReadonlyArray<Step>
export const isAuthorStep = (step: Step | undefined): boolean => authorSteps.some((one) => one === step)

/** Steps that cost an agent's or a machine's time: those that a circuit breaker counts. */
export const breakable = (step: Step): boolean => step !== "PREPARE" && step !== "PHASE_COMPLETE"

interface Transition {
  readonly from: ReadonlyArray<Step> | "start" | "any"
  readonly to: ReadonlyArray<Step>
}

const retried = [...authorSteps, "QUALITY_CHECK", "REVIEW", "CHECKPOINT", "PHASE_GATE"] as const

export const transitions = {
  "run-started": { from: "start", to: ["PREPARE"] },
  "phase-started": { from: ["PREPARE", "PHASE_COMPLETE"], to: ["EXECUTE"] },
  "work-verified": { from: ["EXECUTE"], to: ["QUALITY_CHECK", "REVIEW"] },
  fixed: { from: ["QUALITY_RETRY", "AUTO_FIX"], to: ["QUALITY_CHECK", "REVIEW"] },
  "gates-passed": { from: ["QUALITY_CHECK"], to: ["REVIEW"] },
  "gates-failed": { from: ["QUALITY_CHECK"], to: ["QUALITY_RETRY"] },
  "verdict-ready": { from: ["REVIEW"], to: ["PHASE_GATE"] },
  "items-to-fix": { from: ["REVIEW"], to: ["AUTO_FIX"] },
  "verdict-of-another-commit": { from: ["REVIEW"], to: ["REVIEW"] },
  checkpoint: { from: authorSteps, to: ["CHECKPOINT"] },
  "checkpoint-resolved": { from: ["CHECKPOINT"], to: authorSteps },
  "tree-clean": { from: ["PHASE_GATE"], to: ["PHASE_COMPLETE"] },
  /** An answer, or auto mode in place of one. */
  continue: { from: "any", to: authorSteps },
  fix: { from: "any", to: retried },
  "auto-retry": { from: "any", to: retried },
  override: { from: "any", to: ["PHASE_COMPLETE"] },
  /** After a pause that interrupted the step. */
  resumed: { from: "any", to: retried }
} as const satisfies Record<string, Transition>

export type Cause = keyof typeof transitions

/** Whether the table has this way. */
export const isTransition = (from: Step | undefined, cause: Cause, to: Step): boolean => {
  const { from: sources, to: targets }: Transition = transitions[cause]
  const starts = sources === "any" || (sources === "start" ? from === undefined : sources.some((step) => step === from))
  return starts && targets.some((step) => step === to)
}

const causes = Object.keys(transitions)
export const isCause = (text: string): text is Cause => causes.includes(text)
