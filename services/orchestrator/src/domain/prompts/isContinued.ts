import type { PhaseRun } from "../Run.ts"

/** Whether a fresh author of the phase is told of work that is done, or of a checkpoint that was resolved. */
export const isContinued = ({ completedTasks, continuation }: PhaseRun): boolean =>
  completedTasks.length > 0 || continuation?.checkpoint !== undefined
