/** Where a fresh author continues after a checkpoint (docs/design/continuation.md#the-state-file). */
import { type CheckpointType, defined } from "@reprise/protocol"
import { Result, Schema } from "effect"
import type { Plan } from "../plan/Plan.ts"
import type { PlanOutline } from "../plan/samePrefix.ts"
import { taskList } from "../plan/tasks.ts"

export interface ResumePoint {
  /** The task to continue with; absent when the phase has no task left. */
  readonly task?: string
  /** True: the checkpoint's task is executed (again) with the answer. False: it is done and skipped. */
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
 * The task that comes after a checkpoint. A human-verify that passed is done, so the next task that is not completed
 * follows. In all other cases the checkpoint's own task is executed (again) with the answer. `resolution` is the answer:
 * `pass` or `passed`, optionally followed by `: text`, is a pass; nothing else is. Fails with `UnknownTask` when the
 * phase has no such task.
 *
 * @example resumeAt(plan, "2", { task: "02-01-T3", type: "human-verify" }, "passed") // { task: "02-01-T4", again: false }
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
  return Result.succeed({ ...defined({ task }), again: false })
}

/** Whether this answer passes a human-verify checkpoint. */
export const isPass = (resolution: string) => /^\s*pass(?:ed)?\s*(?::|$)/i.test(resolution)

const taskIdsOf = (plan: Plan | PlanOutline, id: string): ReadonlyArray<string> => {
  if (!("source" in plan)) return plan.phases.find((phase) => phase.id === id)?.tasks ?? []
  const phase = plan.phases.find((candidate) => candidate.id === id)
  return phase === undefined ? [] : taskList(phase).map((task) => task.id)
}
