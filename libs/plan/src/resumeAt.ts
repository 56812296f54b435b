import type { CheckpointType } from "@reprise/protocol"
import { Result, Schema } from "effect"
import type { Plan } from "./Plan.ts"
import type { PlanOutline } from "./PlanOutline.ts"
import { taskList } from "./taskList.ts"

export interface ResumePoint {
  /** The task to go on with; absent when the phase has no task left. */
  readonly task?: string
  /** The checkpoint's task is to be executed, with the answer; else it is done and skipped. */
  readonly again: boolean
}

export class UnknownTask extends Schema.TaggedError<UnknownTask>()("UnknownTask", {
  phase: Schema.String,
  task: Schema.String
}) {
  override get message() {
    return `phase ${this.phase} has no task ${this.task}; ask the author which task of the plan it stopped at.`
  }
}

/**
 * Where a fresh author goes on after a checkpoint (continuation: The state file). A human-verify that passed is done: the
 * next task that is not completed follows. Every other task is executed, or executed again, with the answer. `resolution`
 * begins with the chosen word (`passed`, or `pass` as the gate names it), maybe with `: text` after it; any other word
 * than these two is not a pass.
 */
export const resumeAt = (
  plan: Plan | PlanOutline,
  phase: string,
  checkpoint: { readonly task: string; readonly type: CheckpointType },
  resolution: string,
  completed: Iterable<string> = []
): Result.Result<ResumePoint, UnknownTask> => {
  const ids = taskIdsOf(plan, phase)
  const at = ids.indexOf(checkpoint.task)
  if (at < 0) return Result.fail(new UnknownTask({ phase, task: checkpoint.task }))
  if (checkpoint.type !== "human-verify" || !isPass(resolution)) {
    return Result.succeed({ task: checkpoint.task, again: true })
  }
  const done = new Set(completed)
  const task = ids.slice(at + 1).find((id) => !done.has(id))
  return Result.succeed({ ...(task === undefined ? {} : { task }), again: false })
}

/** Whether a human-verify was passed by this answer. */
export const isPass = (resolution: string) => /^\s*pass(?:ed)?\s*(?::|$)/i.test(resolution)

const taskIdsOf = (plan: Plan | PlanOutline, id: string): ReadonlyArray<string> => {
  if (!("source" in plan)) return plan.phases.find((phase) => phase.id === id)?.tasks ?? []
  const phase = plan.phases.find((candidate) => candidate.id === id)
  return phase === undefined ? [] : taskList(phase).map((task) => task.id)
}
