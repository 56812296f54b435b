/** What a run keeps of its plan, and what is read from it. */
import { formatPlanProblem, parsePlan, planIdOf, reviewPath, samePrefix, taskList } from "@reprise/plan"
import { defined, type PhaseId, type RunOptions } from "@reprise/protocol"
import { Result, Struct } from "effect"
import type { PlannedPhase } from "./journal.ts"
import type { PhaseRun, Run } from "./state.ts"

export interface RunPlan {
  readonly planId: string
  readonly planTitle?: string
  readonly phases: ReadonlyArray<PlannedPhase>
}

/** The plan, or sentences that say what is wrong with it, with line and column. */
export const toRunPlan = (text: string, planPath: string): Result.Result<RunPlan, string> => {
  const plan = parsePlan(text)
  if (Result.isFailure(plan)) {
    return Result.fail(`The plan ${planPath} cannot be read: ${plan.failure.map(formatPlanProblem).join(" ")}`)
  }
  const { phases, title } = plan.success
  return Result.succeed({
    planId: planIdOf(plan.success, planPath),
    ...defined({ planTitle: title }),
    phases: phases.map((phase) => ({
      ...Struct.pick(phase, ["id", "title", "done", "completionGate"]),
      tasks: taskList(phase).map((task) => ({
        id: task.id,
        name: task.text,
        ...defined({ checkpoint: task.checkpoint })
      }))
    }))
  })
}

/** Phases before the start phase count as done; the start phase does not, even if the plan marks it done. */
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

/** A plan that was read again, with a sentence for each change within the phases that the run knows. */
interface EditedPlan extends RunPlan {
  readonly changes: ReadonlyArray<string>
}

type Task = PlannedPhase["tasks"][number]

const nameOf = ({ name }: Task) => name.trim().replace(/\s+/g, " ").toLowerCase()

/**
 * Which known tasks an edited phase has not, in their order, or not with their checkpoint. Names count: an id may be the place of a
 * task. `moved`: it has them, but elsewhere.
 */
const displaced = (known: ReadonlyArray<Task>, now: ReadonlyArray<Task>) => {
  const taken = new Set<number>()
  const missing: Array<Task> = []
  let after = -1
  for (const task of known) {
    const at = now.findIndex(
      (other, index) =>
        index > after &&
        nameOf(other) === nameOf(task) &&
        (task.checkpoint === undefined || other.checkpoint === task.checkpoint)
    )
    if (at === -1) missing.push(task)
    else {
      taken.add(at)
      after = at
    }
  }
  const left = now.filter((_, index) => !taken.has(index)).map(nameOf)
  return {
    lost: missing.filter(({ checkpoint }) => checkpoint !== undefined),
    moved: missing.filter((task) => task.checkpoint === undefined && left.includes(nameOf(task)))
  }
}

/**
 * What of a known phase an edit may not take away, since its author may have made it: where a human is asked, and what is done
 * before and after. A phase without one of its checkpoints, or with a task on another side of one, keeps the tasks that it had.
 */
const keptPhase = (known: PlannedPhase, now: PlannedPhase) => {
  const { completionGate, id } = known
  const { lost, moved } = displaced(known.tasks, now.tasks)
  const asks = known.tasks.some(({ checkpoint }) => checkpoint !== undefined)
  const isKept = lost.length > 0 || (asks && moved.length > 0)
  const reworded = known.tasks.flatMap((task) => {
    const other = now.tasks.find((one) => one.id === task.id)
    return other === undefined || other.name === task.name || now.tasks.some(({ name }) => name === task.name)
      ? []
      : [`task ${task.id} '${task.name}' is now '${other.name}'.`]
  })
  return {
    phase: isKept ? { ...now, tasks: known.tasks } : now,
    changes: [
      ...lost.map(
        ({ checkpoint, id: task, name }) =>
          `phase ${id} has no longer the checkpoint ${checkpoint} of task ${task} '${name}' where it was. This run keeps the tasks that the phase had, and asks there all the same.`
      ),
      ...moved.map(
        ({ id: task, name }) =>
          `phase ${id} has task ${task} '${name}' in another place.${isKept ? " This run keeps the tasks that the phase had." : ""}`
      ),
      ...reworded,
      ...(completionGate === now.completionGate
        ? []
        : [`the completion gate of phase ${id} is now '${now.completionGate ?? "none"}'.`])
    ]
  }
}

/**
 * Known phases keep their state; new ones are to be done, even if the plan marks them done. `finished`: phases that the run has
 * done, so that the plan may mark them. Fails with what was renumbered, removed or reordered
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
export const mergeEditedPlan = (
  known: ReadonlyArray<PlannedPhase>,
  now: RunPlan,
  finished: ReadonlyArray<PhaseId> = []
): Result.Result<EditedPlan, string> => {
  const compared = samePrefix(outlineOf(known), outlineOf(now.phases))
  if (Result.isFailure(compared)) return Result.fail(compared.failure.map((change) => change.message).join(" "))
  const done = new Set(known.filter((phase) => phase.done).map((phase) => phase.id))
  const marked = now.phases.filter(({ done: isMarked, id }) => isMarked && !done.has(id) && !finished.includes(id))
  const phases = now.phases.map((phase) => {
    const before = known.find(({ id }) => id === phase.id)
    return before === undefined || before.done ? { phase, changes: [] } : keptPhase(before, phase)
  })
  return Result.succeed({
    ...now,
    phases: phases.map(({ phase }) => ({ ...phase, done: done.has(phase.id) })),
    changes: [
      ...compared.success.changes.map(({ message }) => message),
      ...phases.flatMap(({ changes }) => changes),
      ...marked.map(
        ({ id }) =>
          `phase ${id} is marked as complete, and this run has not done it. It will; a later run would take it for done: look at the heading.`
      )
    ]
  })
}

export const plannedPhase = (run: Run, id: PhaseId | undefined): PlannedPhase | undefined =>
  run.phases.find((phase) => phase.id === id)

export const currentTitle = (run: Run): string => plannedPhase(run, run.phase?.id)?.title ?? ""

/** The first phase in the plan's order that is not approved. */
export const nextPhase = (run: Run): PlannedPhase | undefined =>
  run.phases.find((phase) => !phase.done && !run.outcomes.some((outcome) => outcome.id === phase.id))

/** The commit that the next one must be newer than. */
export const lastVerified = (phase: PhaseRun): string => phase.verified ?? phase.base

/** The commit that everything since is shown and reviewed from, also what a rewritten history took away. */
export const phaseBegan = ({ base, began = base }: PhaseRun): string => began

/** The work of the phase must come after this commit from now on. */
export const withBase = (phase: PhaseRun, base: string): PhaseRun =>
  base === phase.base ? phase : { ...phase, base, began: phaseBegan(phase) }

/** Whether two hashes name the same commit. Either may be abbreviated. */
export const sameCommit = (a: string, b: string): boolean => {
  const [short, long] = a.length <= b.length ? [a.toLowerCase(), b.toLowerCase()] : [b.toLowerCase(), a.toLowerCase()]
  return short === long || (short.length >= 4 && long.startsWith(short))
}

/** Path of the review file, relative to the workspace's root. */
export const reviewFile = (run: Run, phase: PhaseRun): string =>
  reviewPath(run.request.planPath, phase.id, run.request.options.reviewPath)

export const hasGates = (run: Run): boolean => {
  const { gates, skipQuality } = run.request.options
  return !skipQuality && gates.quality.length > 0
}
