/** The rows of a summary: what became of each task of a phase. */
import { type CheckpointType, type CompletedTask, defined } from "@reprise/protocol"
import { isPass } from "../continuation/resumeAt.ts"
import type { Phase } from "../plan/Plan.ts"
import { taskList } from "../plan/tasks.ts"
import type { TaskResult, TaskStatus } from "./Summary.ts"

/** A checkpoint that was reached, with its answer when a human has given one. */
export interface ReachedCheckpoint {
  readonly task: string
  readonly type: CheckpointType
  readonly resolution?: string
  /** Ids of the tasks that were completed when it was reached. */
  readonly completedBefore: ReadonlyArray<string>
}

/** How a whole phase was approved. A review also approves tasks that no report listed, with the reviewed commit. */
export interface PhaseApproval {
  readonly by: "review" | "override"
  readonly commit?: string | undefined
}

/**
 * The summary's rows for the tasks of a phase, in the plan's order, followed by tasks that the plan does not list. A task
 * is pre-checkpoint when it was completed before the phase's first checkpoint was reached, post-checkpoint when it was
 * completed later, and just complete in a phase without checkpoints. `checkpoint` is the status of a checkpoint's task
 * while the answer is missing or not yet acted on. `subjects` maps whole commit hashes to subject lines; when it knows
 * the approved commit, a listed commit that it does not know is left out.
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
  const subjectsAreComplete = approval?.commit !== undefined && subjects.has(approval.commit)
  const rows = [
    ...taskList(phase).map((task) => ({ ...task, isPlanned: true })),
    ...unplanned(phase, completed, checkpoints)
  ]
  return rows.map((task) => {
    const reached = checkpoints.filter((checkpoint) => checkpoint.task === task.id)
    const listed = commits.get(task.id)
    const isKnownCommit = listed === undefined || !subjectsAreComplete || subjectOf(subjects, listed) !== undefined
    const status = statusOf(listed !== undefined, reached.at(-1), checkpoints.length > 0, before.has(task.id), approval)
    const isReviewed = approval?.by === "review" && task.isPlanned && reached.every(isWork)
    const approved = isReviewed ? approval.commit : undefined
    const commit = isKnownCommit ? (listed ?? approved) : approved
    const subject = commit === undefined ? undefined : subjectOf(subjects, commit)
    const type = reached.at(-1)?.type ?? task.checkpoint
    const resolution = reached.flatMap((checkpoint) => checkpoint.resolution ?? []).join("; then ")
    return {
      id: task.id,
      name: task.text,
      status,
      ...(task.checked ? { checked: true } : {}),
      ...defined({ commit, subject, checkpoint: type }),
      ...(resolution === "" ? {} : { resolution })
    }
  })
}

/** Tasks that were completed or reached a checkpoint but are not in the plan: named by their ids, in journal order. */
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

/** A task can give its commit as a short hash. */
const subjectOf = (subjects: ReadonlyMap<string, string>, commit: string): string | undefined =>
  subjects.get(commit) ?? [...subjects].find(([hash]) => hash.startsWith(commit))?.[1]

/** The task of such a checkpoint is work with a commit of its own; the others only need a human. */
const isWork = ({ type }: ReachedCheckpoint): boolean => type === "decision" || type === "architectural-change"

/** Whether the newest answer leaves no work for the checkpoint's own task. */
const isSettled = ({ resolution, type }: ReachedCheckpoint, done: boolean): boolean => {
  if (resolution === undefined) return false
  return type === "human-verify" ? isPass(resolution) : done
}

/** A human did not pass the work, or could not do what was asked: no review makes the task done. */
const isRefused = ({ resolution = "", type }: ReachedCheckpoint, done: boolean): boolean =>
  (type === "human-verify" && resolution.startsWith("failed")) ||
  (type === "human-action" && !done && resolution.startsWith("cannot"))

const statusOf = (
  done: boolean,
  checkpoint: ReachedCheckpoint | undefined,
  interrupted: boolean,
  before: boolean,
  approval: PhaseApproval | undefined
): TaskStatus => {
  const approved = approval?.by === "review"
  const isPassedOver = approved && (checkpoint === undefined || !isRefused(checkpoint, done))
  if (checkpoint !== undefined && !isPassedOver && !isSettled(checkpoint, done)) return "checkpoint"
  if (!done && !approved && checkpoint === undefined) return "pending"
  if (!interrupted) return "complete"
  return before && checkpoint === undefined ? "complete (pre-checkpoint)" : "complete (post-checkpoint)"
}
