/**
 * The plan decides where a human is asked, not the author: a phase is not approved while one of its checkpoints is
 * unanswered (docs/design/continuation.md#checkpoint-types).
 */
import { isPass } from "@reprise/plan"
import { quote } from "@reprise/plan/quote"
import type { CheckpointReport } from "@reprise/protocol"
import type { PlannedPhase } from "../run/journal.ts"
import { plannedPhase } from "../run/plan.ts"
import type { PhaseCheckpoint, PhaseRun, Run } from "../run/state.ts"

type CheckpointType = CheckpointReport["type"]

/** A checkpoint that no human has answered. */
interface Unanswered {
  readonly task: string
  readonly type: CheckpointType
  /** The task's text in the plan. */
  readonly name: string
  /** As an author reported it last; absent: no author has stopped there. */
  readonly reached?: PhaseCheckpoint | undefined
}

/** Work that was not passed, or was lost since, is still to be verified. */
const isAnswered = ({ resolution, type }: PhaseCheckpoint): boolean =>
  resolution !== undefined && (type !== "human-verify" || isPass(resolution))

const newestOf = (reached: ReadonlyArray<PhaseCheckpoint>, task: string, type: CheckpointType) =>
  reached.findLast((one) => one.task === task && one.type === type)

/** First those that an author reported besides the plan, then those of the plan in its order. */
export const unansweredCheckpoints = (
  planned: PlannedPhase | undefined,
  reached: ReadonlyArray<PhaseCheckpoint>
): ReadonlyArray<Unanswered> => {
  const listed = (planned?.tasks ?? []).flatMap(({ checkpoint: type, id: task, name }) =>
    type === undefined ? [] : [{ task, type, name }]
  )
  const isListed = (one: PhaseCheckpoint) => listed.some(({ task, type }) => task === one.task && type === one.type)
  const besides = reached
    .filter((one) => one.resolution === undefined && !isListed(one))
    .map((one) => ({ task: one.task, type: one.type, name: one.report.description, reached: one }))
  const open = listed.flatMap((one) => {
    const newest = newestOf(reached, one.task, one.type)
    return newest !== undefined && isAnswered(newest) ? [] : [{ ...one, reached: newest }]
  })
  return [...besides, ...open]
}

export const unansweredOf = (run: Run, phase: PhaseRun): ReadonlyArray<Unanswered> =>
  unansweredCheckpoints(plannedPhase(run, phase.id), phase.checkpoints)

/**
 * The unanswered checkpoints that an author has gone past: all of them when it reports the phase as complete, those before
 * the task at which it stops. An architectural change is asked about wherever it is found.
 */
export const passedBy = (run: Run, phase: PhaseRun, stop: CheckpointReport | undefined): ReadonlyArray<Unanswered> => {
  const unanswered = unansweredOf(run, phase)
  if (stop === undefined) return unanswered
  if (stop.type === "architectural-change") return []
  const ids = plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []
  return unanswered.filter(({ task }) => ids.includes(task) && ids.indexOf(task) < ids.indexOf(stop.task))
}

/** An author stopped there, but its agent went on before anybody answered: the question comes back. */
export const leftUnanswered = (run: Run, phase: PhaseRun): Unanswered | undefined =>
  unansweredOf(run, phase).find(({ reached }) => reached !== undefined && reached.resolution === undefined)

/** What a human is asked where no author has stopped, from the words of the plan. */
const fromPlan = ({ name, task, type }: Unanswered): CheckpointReport => ({
  task,
  type,
  description: `The author has gone past this checkpoint of the plan: ${name}`,
  ...(type === "human-verify" ? { verifySteps: [name] } : {}),
  ...(type === "human-action" ? { requiredAction: name } : {})
})

/** The report of a checkpoint that is raised whatever its author does. */
export const raisedReport = (missed: Unanswered): CheckpointReport => missed.reached?.report ?? fromPlan(missed)

/** The type that the plan gives a task's checkpoint; undefined: it has none. */
export const plannedType = (run: Run, phase: PhaseRun, task: string): CheckpointType | undefined =>
  plannedPhase(run, phase.id)?.tasks.find(({ id }) => id === task)?.checkpoint

/** A checkpoint of the plan has the plan's type. An author may find at any task that the architecture has to change. */
export const asPlanned = (run: Run, phase: PhaseRun, report: CheckpointReport): CheckpointReport => {
  const type = plannedType(run, phase, report.task)
  return type === undefined || report.type === "architectural-change" ? report : { ...report, type }
}

/** One line for each, for the author that has gone past them. */
export const missedLines = (missed: ReadonlyArray<Unanswered>): string =>
  quote(missed.map(({ name, task, type }) => `- ${task}: ${name} (checkpoint: ${type})`).join("\n"))
