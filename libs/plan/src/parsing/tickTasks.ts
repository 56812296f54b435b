/** Ticks the boxes of tasks in a plan's text. */
import { Result } from "effect"
import type { Plan } from "../plan/Plan.ts"
import { type PlanProblem, planProblem, quoted } from "../plan/PlanProblem.ts"
import { taskList } from "../plan/tasks.ts"
import { parsePlan } from "./parsePlan.ts"

/**
 * Ticks the boxes of these tasks and changes no other character; ticking again changes nothing. `ids` are those of
 * `taskList`. Fails with the plan's problems, or with `task-unknown` (at line 1, column 1) for an id the plan lacks.
 */
export const tickTasks = (text: string, ids: Iterable<string>): Result.Result<string, ReadonlyArray<PlanProblem>> =>
  Result.flatMap(parsePlan(text), (plan) => tickBoxes(plan, ids))

/** Like `tickTasks`, for a parsed plan. */
export const tickBoxes = (plan: Plan, ids: Iterable<string>): Result.Result<string, ReadonlyArray<PlanProblem>> => {
  const wanted = new Set(ids)
  const tasks = plan.phases.flatMap((phase) => taskList(phase))
  const known = new Set(tasks.map((task) => task.id))
  const unknown = [...wanted].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    return Result.fail(
      unknown.map((id) =>
        planProblem("task-unknown", { line: 1, column: 1 }, `the plan has no task ${quoted(id)}; check the id.`)
      )
    )
  }
  let ticked = ""
  let from = 0
  for (const task of tasks) {
    if (task.checked || !wanted.has(task.id)) continue
    ticked += `${plan.source.slice(from, task.box)}x`
    from = task.box + 1
  }
  return Result.succeed(ticked + plan.source.slice(from))
}
