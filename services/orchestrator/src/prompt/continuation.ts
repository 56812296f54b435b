/** What a fresh author is told about completed tasks (docs/design/continuation.md#the-prompt). */
import { isPass } from "@reprise/plan"
import { quote } from "@reprise/plan/quote"
import type { Words } from "@reprise/protocol"
import type { Continuation } from "../run/journal.ts"
import { plannedPhase, reviewFile } from "../run/plan.ts"
import type { PhaseCheckpoint, PhaseRun, Run } from "../run/state.ts"
import { nameOf, shorten } from "../run/text.ts"
import { resolutionSentence } from "./resolution.ts"
import { type TableFocus, taskTable } from "./taskTable.ts"
import { render } from "./templates.ts"

/** Whether a fresh author of the phase is told about completed tasks, or about a checkpoint that was resolved. */
export const isContinued = ({ completedTasks, continuation }: PhaseRun): boolean =>
  completedTasks.length > 0 || continuation?.checkpoint !== undefined

/** The task whose verification passed: nothing is left to do for it, as long as its work is there. */
export const verifiedTask = (continuation: Continuation | undefined): string | undefined => {
  const { checkpoint, resolution } = continuation ?? {}
  return checkpoint?.report.type === "human-verify" && resolution !== undefined && isPass(resolution)
    ? checkpoint.report.task
    : undefined
}

/** The checkpoint's task, as long as it is still to be done. */
const openTask = (phase: PhaseRun, continuation: Continuation): string | undefined => {
  const task = continuation.checkpoint?.report.task
  const again = task === continuation.resumeAt
  const done = task === verifiedTask(continuation) || phase.completedTasks.some(({ id }) => id === task)
  return task === undefined || (done && !again) ? undefined : task
}

const focusOf = (phase: PhaseRun): TableFocus => {
  const { continuation } = phase
  return continuation === undefined
    ? {}
    : {
        checkpoint: openTask(phase, continuation),
        resumeAt: continuation.resumeAt,
        verified: verifiedTask(continuation)
      }
}

const taskIds = (run: Run, phase: PhaseRun): ReadonlyArray<string> =>
  plannedPhase(run, phase.id)?.tasks.map(({ id }) => id) ?? []

/** `Task 3`: its number in the phase, as in the summary; a task that the plan does not list goes by its id. */
const taskName = (run: Run, phase: PhaseRun) => {
  const ids = taskIds(run, phase)
  return (id: string): string => (ids.includes(id) ? `Task ${ids.indexOf(id) + 1}` : `Task ${nameOf(id, 40)}`)
}

const isBefore = (run: Run, phase: PhaseRun, one: string, other: string): boolean => {
  const ids = taskIds(run, phase)
  return ids.includes(one) && ids.indexOf(one) < ids.indexOf(other)
}

/** A human verifies each new work; anything else is asked once. */
const stopRule = ({ checkpoint }: Continuation): string =>
  checkpoint?.report.type === "human-verify"
    ? "Commit it, and stop at its checkpoint again: a human verifies the new work."
    : "Its checkpoint is answered: do not stop there again."

/** Where to resume, with the task's own id (docs/design/continuation.md#the-prompt). */
const resumeText = (run: Run, phase: PhaseRun, continuation: Continuation): string => {
  const name = taskName(run, phase)
  const { resumeAt, step } = continuation
  const asked = continuation.checkpoint?.report.task
  const open = openTask(phase, continuation)
  if (resumeAt === undefined) {
    if (step !== "EXECUTE") return ""
    const skip = asked === undefined ? "" : `Skip ${name(asked)}, which is done. `
    const left =
      taskIds(run, phase).length === 0
        ? "Go on with what is left of this phase, as the plan describes it."
        : "No task of this phase is left: make sure that the phase is complete."
    return `${skip}${left}`
  }
  const at = `Resume execution at ${name(resumeAt)} (${nameOf(resumeAt, 40)}).`
  if (asked === undefined) return at
  const again = (task: string) => `Re-execute ${name(task)} with the user's input. ${stopRule(continuation)}`
  if (asked === resumeAt) return `${at} ${again(asked)}`
  if (open !== undefined) return `${at} When you come to it: ${again(asked)}`
  return isBefore(run, phase, resumeAt, asked)
    ? `${at} When you come to it: Skip ${name(asked)}.`
    : `${at} Skip ${name(asked)} and continue from ${name(resumeAt)}.`
}

const findingsListed = 6

/** What the last review found, unless the step itself is about it. */
const findingsText = (run: Run, phase: PhaseRun): string => {
  const { items } = phase
  if (items.length === 0 || phase.continuation?.step === "AUTO_FIX") return ""
  const lines = items
    .slice(0, findingsListed)
    .map(({ id, priority, title }) => `- ${shorten(id, 20)} [${priority}] ${shorten(title, 80)}`)
  const more = items.length - lines.length
  return [
    `Open findings of the last review (${reviewFile(run, phase)}):`,
    quote(lines.join("\n")),
    ...(more > 0 ? [`- and ${more} more, in that file`] : [])
  ].join("\n")
}

const earlierListed = 5

/**
 * Earlier answers that are still to be acted upon, since their task is not done, or no longer is. A verification of lost
 * work says nothing about what will replace it.
 */
const earlierAnswers = (phase: PhaseRun): ReadonlyArray<PhaseCheckpoint & { readonly resolution: string }> => {
  const settled = new Set([phase.continuation?.checkpoint?.report.task, ...phase.completedTasks.map(({ id }) => id)])
  const answers = phase.checkpoints.flatMap((checkpoint) =>
    checkpoint.resolution === undefined || checkpoint.type === "human-verify" || settled.has(checkpoint.task)
      ? []
      : [{ ...checkpoint, resolution: checkpoint.resolution }]
  )
  return [...new Map(answers.map((answer) => [answer.task, answer])).values()].slice(-earlierListed)
}

/** How the ledger names a checkpoint that words answer. */
export const aboutCheckpoint = (task: string): string => `At the checkpoint of ${shorten(task, 80)}`

/** Whether the record quotes these words, as they are, in its sentence about their checkpoint. */
export const isInRecord = (phase: PhaseRun, { about = "", text }: Pick<Words, "about" | "text">): boolean => {
  const { checkpoint, resolution } = phase.continuation ?? {}
  if (checkpoint === undefined || resolution === undefined || !isContinued(phase)) return false
  const { report } = checkpoint
  return about.startsWith(`${aboutCheckpoint(report.task)} (`) && resolutionSentence(report, resolution).includes(text)
}

/**
 * The human's answers in a sentence each: the newest, then earlier ones that still count. Steps and options in them are in the
 * words of the agents that asked.
 */
const resolutionsText = (run: Run, phase: PhaseRun): string => {
  const { checkpoint, resolution } = phase.continuation ?? {}
  const name = taskName(run, phase)
  const lines = [
    ...(checkpoint === undefined || resolution === undefined
      ? []
      : [`Checkpoint type: ${checkpoint.report.type}`, resolutionSentence(checkpoint.report, resolution)]),
    ...earlierAnswers(phase).map(
      (answer) => `For ${name(answer.task)}: ${shorten(resolutionSentence(answer.report, answer.resolution), 240)}`
    )
  ]
  return lines.length === 0 ? "" : quote(lines.join("\n"))
}

/** A paragraph of its own, or nothing. */
const paragraph = (text: string) => (text === "" ? "" : `${text}\n\n`)

/** Empty when no task is done and no checkpoint was reached. */
export const continuationText = (run: Run, phase: PhaseRun): string => {
  const { completedTasks, continuation } = phase
  if (!isContinued(phase)) return ""
  return render(run, "continuation", {
    plan_path: run.request.planPath,
    state_path: phase.statePath ?? "the run's journal",
    done: taskTable(plannedPhase(run, phase.id), completedTasks, focusOf(phase)),
    resolution: paragraph(resolutionsText(run, phase)),
    resume: paragraph(continuation === undefined ? "" : resumeText(run, phase, continuation)),
    findings: paragraph(findingsText(run, phase))
  })
}
