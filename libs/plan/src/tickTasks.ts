import { Result } from "effect"
import type { Plan } from "./Plan.ts"
import { type PlanProblem, planProblem } from "./PlanProblem.ts"
import { parsePlan } from "./parsePlan.ts"
import { quoted } from "./suggest.ts"
import { taskList } from "./taskList.ts"

/**
 * The text with the boxes of these tasks ticked, and not a character else changed; ticking again changes nothing. Ids
 * are those of `taskList`. Fails with the plan's problems, or when the plan has no such task (at line 1, column 1).
 */
export const tickTasks = (text: string, ids: Iterable<string>): Result.Result<string, ReadonlyArray<PlanProblem>> =>
  Result.flatMap(parsePlan(text), (plan) => tickBoxes(plan, ids))

/** As `tickTasks`, for a plan that is parsed already. */
export const tickBoxes = (plan: Plan, ids: Iterable<string>): Result.Result<string, ReadonlyArray<PlanProblem>> => {
  const wanted = new Set(ids)
  const tasks = plan.phases.flatMap((phase) => taskList(phase))
  const known = new Set(tasks.map((task) => task.id))
  const unknown = [...wanted].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    return Result.fail(
      unknown.map((id) =>
        planProblem(
          "task-unknown",
          { line: 1, column: 1 },
          `the plan has no task ${quoted(id)}; look up its ids and try again.`
        )
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
