import type { CheckpointType, CompletedTask } from "@reprise/protocol"
import type { Phase } from "./Plan.ts"
import { isPass } from "./resumeAt.ts"
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

/** How a phase was approved as a whole; a review approves tasks that nobody listed, with the commit that was reviewed. */
export interface PhaseApproval {
  readonly by: "review" | "override"
  readonly commit?: string | undefined
}

/**
 * The summary's rows for the tasks of a phase, in the plan's order, then those that the plan does not list. A task is
 * pre-checkpoint when it was completed before the phase's first checkpoint was reached, post-checkpoint when after, and
 * just complete in a phase without any. The task of a checkpoint that is open, or whose answer is still to be acted
 * upon, is `checkpoint`. `subjects` gives the subject line of a commit by its whole hash; where it has that of the
 * approved commit, a commit without one is none.
 */
export const taskResults = (
  phase: Phase,
  completed: ReadonlyArray<CompletedTask>,
  checkpoints: ReadonlyArray<ReachedCheckpoint>,
  subjects: ReadonlyMap<string, string>,
  approval?: PhaseApproval
): ReadonlyArray<TaskResult> => {
  const commits = new Map(completed.map((task) => [task.id, task.commit]))
  const before = new Set(checkpoints[0]?.completedBefore ?? [])
  const areKnown = approval?.commit !== undefined && subjects.has(approval.commit)
  const rows = [
    ...taskList(phase).map((task) => ({ ...task, isPlanned: true })),
    ...unplanned(phase, completed, checkpoints)
  ]
  return rows.map((task) => {
    const reached = checkpoints.filter((checkpoint) => checkpoint.task === task.id)
    const listed = commits.get(task.id)
    const isThere = listed === undefined || !areKnown || subjectOf(subjects, listed) !== undefined
    const status = statusOf(listed !== undefined, reached.at(-1), checkpoints.length > 0, before.has(task.id), approval)
    const isReviewed = approval?.by === "review" && task.isPlanned && reached.every(isWork)
    const approved = isReviewed ? approval.commit : undefined
    const commit = isThere ? (listed ?? approved) : approved
    const subject = commit === undefined ? undefined : subjectOf(subjects, commit)
    const type = reached.at(-1)?.type ?? task.checkpoint
    const resolution = reached.flatMap((checkpoint) => checkpoint.resolution ?? []).join("; then ")
    return {
      id: task.id,
      name: task.text,
      status,
      ...(task.checked ? { checked: true } : {}),
      ...(commit === undefined ? {} : { commit }),
      ...(subject === undefined ? {} : { subject }),
      ...(type === undefined ? {} : { checkpoint: type }),
      ...(resolution === "" ? {} : { resolution })
    }
  })
}

/** Done, or stopped at, without being an item of the plan: they go by their ids, in the order of the journal. */
const unplanned = (
  phase: Phase,
  completed: ReadonlyArray<CompletedTask>,
  checkpoints: ReadonlyArray<ReachedCheckpoint>
) => {
  const planned = new Set(taskList(phase).map(({ id }) => id))
  const ids = new Set([...completed.map(({ id }) => id), ...checkpoints.map(({ task }) => task)])
  return [...ids]
    .filter((id) => !planned.has(id))
    .map((id) => ({ id, text: id, checked: false, checkpoint: undefined, isPlanned: false }))
}

/** A task may name its commit by a short hash. */
const subjectOf = (subjects: ReadonlyMap<string, string>, commit: string): string | undefined =>
  subjects.get(commit) ?? [...subjects].find(([hash]) => hash.startsWith(commit))?.[1]

/** What a human looks at or does needs no commit of its own. */
const isWork = ({ type }: ReachedCheckpoint): boolean => type === "decision" || type === "architectural-change"

/** Whether the newest answer leaves nothing to do for the checkpoint's task itself. */
const isSettled = ({ resolution, type }: ReachedCheckpoint, done: boolean): boolean => {
  if (resolution === undefined) return false
  return type === "human-verify" ? isPass(resolution) : done
}

const statusOf = (
  done: boolean,
  checkpoint: ReachedCheckpoint | undefined,
  interrupted: boolean,
  before: boolean,
  approval: PhaseApproval | undefined
): TaskStatus => {
  const approved = approval?.by === "review"
  if (checkpoint !== undefined && !approved && !isSettled(checkpoint, done)) return "checkpoint"
  if (!done && !approved && checkpoint === undefined) return "pending"
  if (!interrupted) return "complete"
  return before && checkpoint === undefined ? "complete (pre-checkpoint)" : "complete (post-checkpoint)"
}
