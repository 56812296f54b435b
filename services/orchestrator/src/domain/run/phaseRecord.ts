/** What is known of a phase, under way or ended: what its summary is made of. */
import type { PhaseId } from "@reprise/protocol"
import type { PhaseOutcome, Run } from "../Run.ts"

export type PhaseRecord = Pick<PhaseOutcome, "tasks" | "checkpoints" | "notes" | "deviations"> & {
  readonly by?: PhaseOutcome["by"]
  readonly commit?: string | undefined
}

/** What is known of a phase: how it ended, or where the current one stands. */
export const recordOf = (run: Run, id: PhaseId): PhaseRecord | undefined => {
  const ended = run.outcomes.find((outcome) => outcome.id === id)
  const { phase } = run
  if (ended !== undefined || phase?.id !== id) return ended
  const { checkpoints, completedTasks, deviations, items, verified } = phase
  return { tasks: completedTasks, checkpoints, notes: items, deviations, commit: verified }
}

/** The phase that a task is planned in. */
export const phaseOfTask = (run: Run, task: string): PhaseId | undefined =>
  run.phases.find(({ tasks }) => tasks.some(({ id }) => id === task))?.id
