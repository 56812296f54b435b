/** What a phase did otherwise than planned, in words for its summary. */
import { isPass } from "@reprise/plan"
import type { PhaseId } from "@reprise/protocol"
import { plannedPhase, sameCommit } from "../phases.ts"
import { resolutionSentence } from "../prompts/resolution.ts"
import type { Run } from "../Run.ts"
import { type PhaseRecord, phaseOfTask, recordOf } from "./phaseRecord.ts"

/** Tasks of a completed phase that nobody passed after their verification had failed. */
const unpassed = ({ by, checkpoints }: PhaseRecord): ReadonlyArray<string> => {
  if (by === undefined) return []
  const newest = new Map(checkpoints.map((checkpoint) => [checkpoint.task, checkpoint]))
  return [...newest.values()].flatMap(({ resolution, task, type }) =>
    type === "human-verify" && resolution !== undefined && !isPass(resolution)
      ? [`Task ${task} was not verified again after this: ${resolution}`]
      : []
  )
}

/** Where a listed task is planned, if not in this phase. A phase without items leaves its tasks to its author. */
const strange = (run: Run, id: string, planned: number): ReadonlyArray<string> => {
  const other = phaseOfTask(run, id)
  if (other !== undefined) return [`Task ${id} is one of phase ${other}.`]
  return planned === 0 ? [] : [`Task ${id} is not in the plan.`]
}

/** Commits that git did not know when it was asked for those of the phase. */
const inventedOf = (run: Run, { commit, tasks }: PhaseRecord): ReadonlyArray<string> => {
  const asked = run.subjects.some((subject) => subject.commit === commit)
  const isKnown = (hash: string) => run.subjects.some((subject) => sameCommit(subject.commit, hash))
  return (asked ? tasks : [])
    .filter((task) => !isKnown(task.commit))
    .map((task) => `Task ${task.id} was reported with commit ${task.commit}, which git does not know.`)
}

/** What was done otherwise than planned: tasks nobody planned, checkpoints passed by, another architecture. */
export const deviationsOf = (run: Run, id: PhaseId): ReadonlyArray<string> => {
  const known = recordOf(run, id)
  if (known === undefined) return []
  const planned = plannedPhase(run, id)?.tasks ?? []
  const ids = new Set(planned.map((task) => task.id))
  const reached = new Set(known.checkpoints.map(({ task }) => task))
  const done = new Set(known.tasks.map((task) => task.id))
  return [
    ...known.deviations,
    ...known.tasks.filter((task) => !ids.has(task.id)).flatMap((task) => strange(run, task.id, planned.length)),
    ...inventedOf(run, known),
    ...planned
      .filter((task) => task.checkpoint !== undefined && !reached.has(task.id))
      .filter((task) => done.has(task.id) || known.by === "review")
      .map((task) => `Task ${task.id} was done without stopping at its checkpoint (${task.checkpoint}).`),
    ...unpassed(known),
    ...known.checkpoints
      .filter(({ task, type }) => type === "architectural-change" || !ids.has(task))
      .map(({ report, resolution, task, type }) => {
        const answer = resolution === undefined ? "not answered yet" : resolutionSentence(report, resolution)
        return type === "architectural-change"
          ? `At task ${task} another architecture was asked for. ${answer}`
          : `At ${task}, which is no task of this phase, a human was asked (${type}). ${answer}`
      })
  ].map((text) => `Phase ${id}: ${text}`)
}
