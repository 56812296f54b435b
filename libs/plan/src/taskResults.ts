import type { CheckpointType, CompletedTask } from "@reprise/protocol"
import type { Phase } from "./Plan.ts"
import type { TaskResult, TaskStatus } from "./Summary.ts"
import { taskList } from "./taskList.ts"

/** A checkpoint that was reached, with its answer if there is one already. */
export interface ReachedCheckpoint {
  readonly task: string
  readonly type: CheckpointType
  readonly resolution?: string
  /** Ids of the tasks that were completed when it was reached. */
  readonly completedBefore: ReadonlyArray<string>
}

/**
 * The summary's rows for the tasks of a phase, in the plan's order. A task is pre-checkpoint when it was completed before
 * the phase's first checkpoint was reached, post-checkpoint when after, and just complete in a phase without any. The
 * task of an open checkpoint is `checkpoint`. `subjects` gives the subject line of a commit.
 */
export const taskResults = (
  phase: Phase,
  completed: ReadonlyArray<CompletedTask>,
  checkpoints: ReadonlyArray<ReachedCheckpoint>,
  subjects: ReadonlyMap<string, string>
): ReadonlyArray<TaskResult> => {
  const commits = new Map(completed.map((task) => [task.id, task.commit]))
  const reached = new Map(checkpoints.map((checkpoint) => [checkpoint.task, checkpoint]))
  const before = new Set(checkpoints[0]?.completedBefore ?? [])
  return taskList(phase).map((task) => {
    const commit = commits.get(task.id)
    const subject = commit === undefined ? undefined : subjects.get(commit)
    const checkpoint = reached.get(task.id)
    const type = checkpoint?.type ?? task.checkpoint
    return {
      id: task.id,
      name: task.text,
      status: statusOf(commit !== undefined, checkpoint, checkpoints.length > 0, before.has(task.id)),
      ...(commit === undefined ? {} : { commit }),
      ...(subject === undefined ? {} : { subject }),
      ...(type === undefined ? {} : { checkpoint: type }),
      ...(checkpoint?.resolution === undefined ? {} : { resolution: checkpoint.resolution })
    }
  })
}

const statusOf = (
  done: boolean,
  checkpoint: ReachedCheckpoint | undefined,
  interrupted: boolean,
  before: boolean
): TaskStatus => {
  if (checkpoint !== undefined && (checkpoint.resolution === undefined || !done)) return "checkpoint"
  if (!done) return "pending"
  if (!interrupted) return "complete"
  return before && checkpoint === undefined ? "complete (pre-checkpoint)" : "complete (post-checkpoint)"
}
