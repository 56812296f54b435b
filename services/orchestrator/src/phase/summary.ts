/** SUMMARY.md (docs/design/continuation.md#many-checkpoints-and-the-summary). */
import {
  besideState,
  isPass,
  parsePlan,
  planSlug,
  renderSummary,
  type Summary,
  slugOf,
  summaryPath,
  taskResults
} from "@reprise/plan"
import { defined, type PhaseId } from "@reprise/protocol"
import { Result } from "effect"
import { resolutionSentence } from "../prompt/resolution.ts"
import type { RunEvent } from "../run/journal.ts"
import { plannedPhase, sameCommit } from "../run/plan.ts"
import type { PhaseOutcome, Run, Saving } from "../run/state.ts"

/** Tasks of other phases are reported with those. */
const ownTasks = (run: Run, id: PhaseId, known: PhaseRecord | undefined): PhaseRecord["tasks"] =>
  (known?.tasks ?? []).filter((task) => phaseOfTask(run, task.id) === undefined || phaseOfTask(run, task.id) === id)

const phasesOf = (run: Run, only: PhaseId | undefined): Summary["phases"] => {
  const plan = parsePlan(run.source)
  if (Result.isFailure(plan)) return []
  const subjects = new Map(run.subjects.map(({ commit, subject }) => [commit, subject]))
  return plan.success.phases
    .filter(({ id }) => only === undefined || id === only)
    .map((phase) => {
      const known = recordOf(run, phase.id)
      const approval = known?.by === undefined ? undefined : { by: known.by, commit: known.commit }
      return {
        id: phase.id,
        title: phase.title,
        ...(known?.by === undefined ? {} : { completedBy: known.by }),
        ...(known?.commit === undefined ? {} : { commit: known.commit }),
        tasks: taskResults(phase, ownTasks(run, phase.id, known), known?.checkpoints ?? [], subjects, approval)
      }
    })
}

const overrideOf = ({ by, guidance, id, who }: PhaseOutcome): Summary["overrides"] =>
  by === "override" ? [{ phase: id, by: who ?? "unknown", reason: guidance ?? "no reason given" }] : []

/** Items that the reviewer let pass, or that an override passed over. */
const declinedOf = ({ id, notes }: PhaseOutcome): Summary["declined"] =>
  notes.map((item) => ({ phase: id, id: item.id, title: item.title, reason: item.reason }))

/** Absent when no session was continued and no fresh author was spared a conversation. */
const savedOf = (savings: ReadonlyArray<Saving>): Pick<Summary, "saved"> => {
  const sum = (name: Exclude<keyof Saving, "phase">) => savings.reduce((total, saving) => total + saving[name], 0)
  const saved = {
    continuedTurns: sum("continuedTurns"),
    cachedTokens: sum("cachedTokens"),
    unsentTokens: sum("unsentTokens")
  }
  return saved.continuedTurns + saved.unsentTokens === 0 ? {} : { saved }
}

/** The summary of the whole run or of one phase, finished or under way. */
export const summaryOf = (run: Run, only?: PhaseId): Summary => {
  const isWanted = ({ phase }: { readonly phase: PhaseId }) => only === undefined || phase === only
  const outcomes = run.outcomes.filter(({ id }) => only === undefined || id === only)
  const phases = phasesOf(run, only)
  const authors = phases.flatMap(({ id }) => (recordOf(run, id)?.authors ?? []).map((one) => ({ phase: id, ...one })))
  const agents = phases.flatMap(({ id }) => (recordOf(run, id)?.agents ?? []).map((one) => ({ phase: id, ...one })))
  return {
    planId: run.planId,
    ...defined({ title: run.planTitle }),
    runId: run.runId,
    ...defined({ phase: only }),
    phases,
    overrides: outcomes.flatMap(overrideOf),
    declined: outcomes.flatMap(declinedOf),
    deviations: phases.flatMap(({ id }) => deviationsOf(run, id)),
    ...(authors.length === 0 ? {} : { authors }),
    ...(agents.length === 0 ? {} : { agents }),
    refusals: run.refusals
      .filter(({ phase }) => only === undefined || phase === only)
      .map(({ rule: _rule, unattended: _, ...refusal }) => refusal),
    usage: run.phaseUsage.filter(isWanted),
    ...savedOf(run.savings.filter(isWanted))
  }
}

export const writeSummary = (run: Run): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "WriteSummary",
    runId: run.runId,
    path: summaryPath(run.planId, planSlug(run.request.planPath)),
    text: renderSummary(summaryOf(run))
  }
})

/** The title of a phase may have changed since its state file was written. */
const summaryBeside = ({ phase }: Run, id: PhaseId): string | undefined =>
  phase?.id === id && phase.statePath !== undefined ? besideState(phase.statePath) : undefined

/** The summary lies beside the phase's state file. */
export const writePhaseSummary = (run: Run, phase: PhaseId): RunEvent => ({
  _tag: "WorkspaceAsked",
  command: {
    _tag: "WriteSummary",
    runId: run.runId,
    phase,
    path: summaryBeside(run, phase) ?? summaryPath(phase, slugOf(plannedPhase(run, phase)?.title ?? "")),
    text: renderSummary(summaryOf(run, phase))
  }
})

/** Tasks of a completed phase whose verification failed and never passed later. */
const unverified = ({ by, checkpoints }: PhaseRecord): ReadonlyArray<string> => {
  if (by === undefined) return []
  const newest = new Map(checkpoints.map((checkpoint) => [checkpoint.task, checkpoint]))
  return [...newest.values()].flatMap(({ resolution, task, type }) =>
    type === "human-verify" && resolution !== undefined && !isPass(resolution)
      ? [`Task ${task} was not verified again after this: ${resolution}`]
      : []
  )
}

/** A completed task that this phase does not plan. In a phase without items the author chooses the tasks. */
const unplanned = (run: Run, id: string, planned: number): ReadonlyArray<string> => {
  const other = phaseOfTask(run, id)
  if (other !== undefined) return [`Task ${id} belongs to phase ${other}.`]
  return planned === 0 ? [] : [`Task ${id} is not in the plan.`]
}

/** Commits that git did not know when it was asked for the subject lines of the phase. */
const unknownCommits = (run: Run, { commit, tasks }: PhaseRecord): ReadonlyArray<string> => {
  const asked = run.subjects.some((subject) => subject.commit === commit)
  const isKnown = (hash: string) => run.subjects.some((subject) => sameCommit(subject.commit, hash))
  return (asked ? tasks : [])
    .filter((task) => !isKnown(task.commit))
    .map((task) => `Task ${task.id} was reported with commit ${task.commit}, which git does not know.`)
}

/** Tasks that name the commit of another one, as a completion may: at a checkpoint such a claim is rejected. */
const sharedCommits = ({ tasks }: PhaseRecord): ReadonlyArray<string> =>
  tasks.flatMap((task, index) => {
    const other = tasks.slice(0, index).find(({ commit }) => sameCommit(commit, task.commit))
    return other === undefined ? [] : [`Task ${task.id} was reported with the commit of task ${other.id}.`]
  })

/** Where a phase deviated from the plan: unplanned tasks, skipped checkpoints, another architecture. */
const deviationsOf = (run: Run, id: PhaseId): ReadonlyArray<string> => {
  const known = recordOf(run, id)
  if (known === undefined) return []
  const planned = plannedPhase(run, id)?.tasks ?? []
  const ids = new Set(planned.map((task) => task.id))
  const reached = new Set(known.checkpoints.map(({ task }) => task))
  const done = new Set(known.tasks.map((task) => task.id))
  return [
    ...known.deviations,
    ...known.tasks.filter((task) => !ids.has(task.id)).flatMap((task) => unplanned(run, task.id, planned.length)),
    ...unknownCommits(run, known),
    ...sharedCommits(known),
    ...planned
      .filter((task) => task.checkpoint !== undefined && !reached.has(task.id))
      .filter((task) => done.has(task.id) || known.by === "review")
      .map((task) => `Task ${task.id} was done without stopping at its checkpoint (${task.checkpoint}).`),
    ...unverified(known),
    ...known.checkpoints
      .filter(({ task, type }) => type === "architectural-change" || !ids.has(task))
      .map(({ report, resolution, task, type }) => {
        const answer = resolution === undefined ? "not answered yet" : resolutionSentence(report, resolution)
        return type === "architectural-change"
          ? `At task ${task} the author asked for another architecture. ${answer}`
          : `A human was asked at ${task} (${type}), which is not a task of this phase. ${answer}`
      })
  ].map((text) => `Phase ${id}: ${text}`)
}

type PhaseRecord = Pick<PhaseOutcome, "tasks" | "checkpoints" | "notes" | "deviations" | "authors" | "agents"> & {
  readonly by?: PhaseOutcome["by"]
  readonly commit?: string | undefined
}

/** What the summary of a phase is made from: how it ended, or where the current one stands. */
export const recordOf = (run: Run, id: PhaseId): PhaseRecord | undefined => {
  const ended = run.outcomes.find((outcome) => outcome.id === id)
  const { phase } = run
  if (ended !== undefined || phase?.id !== id) return ended
  const { agents, authors, checkpoints, completedTasks, deviations, items, verified } = phase
  return { tasks: completedTasks, checkpoints, notes: items, deviations, authors, agents, commit: verified }
}

/** The phase whose plan lists the task. */
const phaseOfTask = (run: Run, task: string): PhaseId | undefined =>
  run.phases.find(({ tasks }) => tasks.some(({ id }) => id === task))?.id
