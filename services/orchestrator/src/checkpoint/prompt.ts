/** What a fresh author is told of tasks that are done (continuation: The prompt). */

import { isPass } from "@reprise/plan"
import type { Continuation } from "../actor/journal.ts"
import type { PhaseCheckpoint, PhaseRun, Run } from "../actor/state.ts"
import { plannedPhase, reviewFile } from "../phase/plan.ts"
import { render, shorten } from "../prompts.ts"
import { resolutionSentence } from "./resolution.ts"
import { type TablePlace, taskTable } from "./taskTable.ts"

/** Once its task is done, the checkpoint is history. */
const openCheckpoint = (phase: PhaseRun, continuation: Continuation): string | undefined => {
  const task = continuation.checkpoint?.report.task
  const again = task === continuation.resumeAt
  const done = task === settledBy(continuation) || phase.completedTasks.some(({ id }) => id === task)
  return task === undefined || (done && !again) ? undefined : task
}

const placeOf = (phase: PhaseRun): TablePlace => {
  const { continuation } = phase
  return continuation === undefined
    ? {}
    : {
        checkpoint: openCheckpoint(phase, continuation),
        resumeAt: continuation.resumeAt,
        settled: settledBy(continuation)
      }
}

/** `Task 3`: its number in the phase, as the summary counts; one that the plan does not list goes by its id. */
const numbered = (run: Run, phase: PhaseRun) => {
  const ids = plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []
  return (id: string): string => (ids.includes(id) ? `Task ${ids.indexOf(id) + 1}` : `Task ${shorten(id, 40)}`)
}

const isBefore = (run: Run, phase: PhaseRun, one: string, other: string): boolean => {
  const ids = plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []
  return ids.includes(one) && ids.indexOf(one) < ids.indexOf(other)
}

/** Where to go on: the sentences of the contract, with the task's own id. */
const resume = (run: Run, phase: PhaseRun, continuation: Continuation): string => {
  const task = numbered(run, phase)
  const { resumeAt, step } = continuation
  const asked = continuation.checkpoint?.report.task
  const open = openCheckpoint(phase, continuation)
  if (resumeAt === undefined) {
    if (step !== "EXECUTE") return ""
    const skip = asked === undefined ? "" : `Skip ${task(asked)}, which is done. `
    const left =
      plannedPhase(run, phase.id)?.tasks.length === 0
        ? "Go on with what is left of this phase, as the plan describes it."
        : "No task of this phase is left: make sure that the phase is complete."
    return `${skip}${left}`
  }
  const at = `Resume execution at ${task(resumeAt)} (${shorten(resumeAt, 40)}).`
  if (asked === undefined) return at
  if (asked === resumeAt) return `${at} Re-execute ${task(asked)} with the user's input.`
  if (open !== undefined) return `${at} When you come to it: Re-execute ${task(asked)} with the user's input.`
  return isBefore(run, phase, resumeAt, asked)
    ? `${at} When you come to it: Skip ${task(asked)}.`
    : `${at} Skip ${task(asked)} and continue from ${task(resumeAt)}.`
}

const findingsListed = 6

/** What the last review found, unless the step itself is about it. */
const findings = (run: Run, phase: PhaseRun): string => {
  const { items } = phase
  if (items.length === 0 || phase.continuation?.step === "AUTO_FIX") return ""
  const lines = items
    .slice(0, findingsListed)
    .map(({ id, priority, title }) => `- ${shorten(id, 20)} [${priority}] ${shorten(title, 80)}`)
  const more = items.length - lines.length
  return [
    `Open findings of the last review (${reviewFile(run, phase)}):`,
    ...lines,
    ...(more > 0 ? [`- and ${more} more, in that file`] : [])
  ].join("\n")
}

/** The summary of the phase before: what this one builds on. */
const prior = (run: Run): string => {
  const last = run.outcomes.findLast(({ summary }) => summary !== undefined)?.summary
  return last === undefined ? "" : `What the phase before did is in ${last}.`
}

const earlierListed = 5

/**
 * What was answered before the newest checkpoint and is still to be acted upon, since its task is not done, or no more.
 * What was seen of work that is gone says nothing of what will take its place.
 */
const earlier = (phase: PhaseRun): ReadonlyArray<PhaseCheckpoint & { readonly resolution: string }> => {
  const settled = new Set([phase.continuation?.checkpoint?.report.task, ...phase.completedTasks.map(({ id }) => id)])
  const answers = phase.checkpoints.flatMap((it) =>
    it.resolution === undefined || it.type === "human-verify" || settled.has(it.task)
      ? []
      : [{ ...it, resolution: it.resolution }]
  )
  return [...new Map(answers.map((it) => [it.task, it])).values()].slice(-earlierListed)
}

/** The human's answers in a sentence each: the newest, then those before it that still count. */
const resolutions = (run: Run, phase: PhaseRun): string => {
  const { checkpoint, resolution } = phase.continuation ?? {}
  const task = numbered(run, phase)
  return [
    ...(checkpoint === undefined || resolution === undefined
      ? []
      : [resolutionSentence(checkpoint.report, resolution)]),
    ...earlier(phase).map((it) => `For ${task(it.task)}: ${shorten(resolutionSentence(it.report, it.resolution), 240)}`)
  ].join("\n")
}

/** What the human wrote with these answers, word for word, where the sentences do not hold it as it is. */
export const continuationWords = (run: Run, phase: PhaseRun): ReadonlyArray<string> => {
  const sentences = resolutions(run, phase)
  return [phase.continuation?.words, ...earlier(phase).map(({ words }) => words)].flatMap((words) =>
    words === undefined || sentences.includes(words) ? [] : [words]
  )
}

/** A part of its own, or nothing. */
const part = (text: string) => (text === "" ? "" : `${text}\n\n`)

/** Empty when nothing was done and no checkpoint reached. */
export const continuationText = (run: Run, phase: PhaseRun): string => {
  const { completedTasks, continuation } = phase
  if (!isContinued(phase)) return ""
  return render(run, "continuation", {
    plan_path: run.request.planPath,
    state_path: phase.statePath ?? "the run's journal",
    done: taskTable(plannedPhase(run, phase.id), completedTasks, placeOf(phase)),
    resolution: part(resolutions(run, phase)),
    resume: part(continuation === undefined ? "" : resume(run, phase, continuation)),
    findings: part([findings(run, phase), prior(run)].filter((text) => text !== "").join("\n\n"))
  })
}

/** Whether a fresh author of the phase is told of work that is done, or of a checkpoint that was resolved. */
export const isContinued = ({ completedTasks, continuation }: PhaseRun): boolean =>
  completedTasks.length > 0 || continuation?.checkpoint !== undefined

/** The task whose verification passed: nothing is left to do for it, as long as its work is there. */
export const settledBy = (continuation: Continuation | undefined): string | undefined => {
  const { checkpoint, resolution } = continuation ?? {}
  return checkpoint?.report.type === "human-verify" && resolution !== undefined && isPass(resolution)
    ? checkpoint.report.task
    : undefined
}
