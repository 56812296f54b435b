/** Reading questions about phases, asked in many places. */
import { reviewPath } from "@reprise/plan"
import type { PhaseId } from "@reprise/protocol"
import type { PlannedPhase } from "./Event.ts"
import type { PhaseRun, Run } from "./Run.ts"

/** Where an event or command of the current phase belongs. */
export const placeOf = (run: Run) => ({
  runId: run.runId,
  ...(run.phase === undefined ? {} : { phase: run.phase.id })
})

export const plannedPhase = (run: Run, id: PhaseId | undefined): PlannedPhase | undefined =>
  run.phases.find((phase) => phase.id === id)

export const currentTitle = (run: Run): string => plannedPhase(run, run.phase?.id)?.title ?? ""

/** The first phase that nobody approved, in the plan's order. */
export const nextPhase = (run: Run): PlannedPhase | undefined =>
  run.phases.find((phase) => !phase.done && !run.outcomes.some((outcome) => outcome.id === phase.id))

/** The commit that the next one must be newer than. */
export const lastVerified = (phase: PhaseRun): string => phase.verified ?? phase.base

/** Whether two hashes, one of them maybe short, name one commit. */
export const sameCommit = (a: string, b: string): boolean => {
  const [short, long] = a.length <= b.length ? [a.toLowerCase(), b.toLowerCase()] : [b.toLowerCase(), a.toLowerCase()]
  return short === long || (short.length >= 4 && long.startsWith(short))
}

/** Relative to the workspace's root. */
export const reviewFile = (run: Run, phase: PhaseRun): string =>
  reviewPath(run.request.planPath, phase.id, run.request.options.reviewPath)
