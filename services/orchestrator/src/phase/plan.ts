/** What the run machine keeps of a plan's text. */

import { formatPlanProblem, parsePlan, planIdOf, reviewPath, samePrefix, taskList } from "@reprise/plan"
import type { PhaseId, RunOptions } from "@reprise/protocol"
import { Result } from "effect"
import type { PlannedPhase } from "../actor/journal.ts"
import type { PhaseRun, Run } from "../actor/state.ts"

export interface RunPlan {
  readonly planId: string
  readonly planTitle?: string
  readonly phases: ReadonlyArray<PlannedPhase>
}

/** The plan, or in sentences with line and column what is wrong with it. */
export const toRunPlan = (text: string, planPath: string): Result.Result<RunPlan, string> => {
  const plan = parsePlan(text)
  if (Result.isFailure(plan)) {
    return Result.fail(`The plan ${planPath} cannot be read: ${plan.failure.map(formatPlanProblem).join(" ")}`)
  }
  const { phases, title } = plan.success
  return Result.succeed({
    planId: planIdOf(plan.success, planPath),
    ...(title === undefined ? {} : { planTitle: title }),
    phases: phases.map((phase) => ({
      id: phase.id,
      title: phase.title,
      done: phase.done,
      ...(phase.completionGate === undefined ? {} : { completionGate: phase.completionGate }),
      tasks: taskList(phase).map((task) => ({
        id: task.id,
        name: task.text,
        ...(task.checkpoint === undefined ? {} : { checkpoint: task.checkpoint })
      }))
    }))
  })
}

/** Phases before the one that the run was told to start with count as done; that one does not, whatever it is marked. */
export const withStartPhase = (plan: RunPlan, startPhase: RunOptions["startPhase"]): Result.Result<RunPlan, string> => {
  if (startPhase === undefined) return Result.succeed(plan)
  const { phases } = plan
  const start = phases.findIndex((phase) => phase.id === startPhase)
  if (start === -1) {
    const ids = phases.map((phase) => phase.id).join(", ")
    return Result.fail(`The plan has no phase ${startPhase}. It has ${ids}.`)
  }
  const isDone = (phase: PlannedPhase, index: number) => index < start || (index > start && phase.done)
  return Result.succeed({ ...plan, phases: phases.map((phase, index) => ({ ...phase, done: isDone(phase, index) })) })
}

export const outlineOf = (phases: ReadonlyArray<PlannedPhase>) => ({
  phases: phases.map(({ id, tasks, title }) => ({ id, title, tasks: tasks.map((task) => task.id) }))
})

/** A plan that was read again, and in sentences what changed within phases that the run knows. */
export interface EditedPlan extends RunPlan {
  readonly changes: ReadonlyArray<string>
}

/**
 * A plan that was read again: phases known keep what was decided of them, new ones are to be done, whatever they are
 * marked. Fails with what was renumbered, removed or reordered (run-machine: PHASE_COMPLETE).
 */
export const mergeEditedPlan = (
  known: ReadonlyArray<PlannedPhase>,
  now: RunPlan
): Result.Result<EditedPlan, string> => {
  const compared = samePrefix(outlineOf(known), outlineOf(now.phases))
  if (Result.isFailure(compared)) return Result.fail(compared.failure.map((change) => change.message).join(" "))
  const done = new Set(known.filter((phase) => phase.done).map((phase) => phase.id))
  return Result.succeed({
    ...now,
    phases: now.phases.map((phase) => ({ ...phase, done: done.has(phase.id) })),
    changes: compared.success.changes.map((change) => change.message)
  })
}

/** Reading questions about phases, asked in many places. */

/** Where an event or command of the current phase belongs. */
export const locationOf = (run: Run) => ({
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
