/** What a fresh author is told of tasks that are done (continuation: The prompt). */
import type { CompletedTask } from "@reprise/protocol"
import type { Continuation } from "../Event.ts"
import { plannedPhase } from "../phases.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { render } from "./render.ts"

/** The newest tasks are listed, the state file has all: the prompt's size does not grow with the plan. */
const listed = 12

const row = (names: ReadonlyMap<string, string>, task: CompletedTask) =>
  `| ${task.id} | ${names.get(task.id) ?? ""} | ${task.commit} | ${task.files.slice(0, 5).join(", ")} | complete |`

const table = (run: Run, phase: PhaseRun): string => {
  const tasks = plannedPhase(run, phase.id)?.tasks ?? []
  const names = new Map(tasks.map(({ id, name }) => [id, name]))
  const done = phase.completedTasks
  const checkpoint = phase.continuation?.checkpoint?.report.task
  const open = checkpoint !== undefined && !done.some(({ id }) => id === checkpoint)
  return [
    ...(done.length > listed ? [`(${done.length - listed} more tasks are done; see the record)`, ""] : []),
    "| Task | Name | Commit | Files | Status |",
    "| --- | --- | --- | --- | --- |",
    ...done.slice(-listed).map((task) => row(names, task)),
    ...(open ? [`| ${checkpoint} | ${names.get(checkpoint) ?? ""} | - | - | checkpoint |`] : [])
  ].join("\n")
}

/** One sentence by the checkpoint's type. A resolution is the chosen word, maybe with `: text` after it. */
const resolutionSentence = ({ checkpoint, resolution }: Continuation): string => {
  if (checkpoint === undefined || resolution === undefined) return ""
  switch (checkpoint.report.type) {
    case "human-verify":
      return `User confirmed: ${resolution}`
    case "decision":
      return `User chose ${resolution}`
    case "human-action":
      return resolution.startsWith("cannot")
        ? `User could not do the action: ${resolution}`
        : `User confirms action completed: ${resolution}`
    case "architectural-change":
      return `User approved approach: ${resolution}`
  }
}

const resume = ({ checkpoint, resumeAt, step }: Continuation): string => {
  const task = checkpoint?.report.task
  if (resumeAt === undefined) {
    if (step !== "EXECUTE") return ""
    return task === undefined
      ? "No task of this phase is left: make sure that the phase is complete."
      : `Skip task ${task}, which is done. No task of this phase is left: make sure that the phase is complete.`
  }
  if (task === undefined) return `Go on with task ${resumeAt}.`
  return task === resumeAt
    ? `Re-execute task ${task} with the user's input.`
    : `Skip task ${task} and continue from task ${resumeAt}.`
}

/** Empty when nothing was done and no checkpoint reached. */
export const continuationText = (run: Run, phase: PhaseRun): string => {
  const { continuation } = phase
  if (phase.completedTasks.length === 0 && continuation?.checkpoint === undefined) return ""
  const sentence = continuation === undefined ? "" : resolutionSentence(continuation)
  const next = continuation === undefined ? "" : resume(continuation)
  return render(run, "continuation", {
    state_path: phase.statePath ?? "the run's journal",
    done: table(run, phase),
    resolution: sentence === "" ? "" : `${sentence}\n\n`,
    resume: next === "" ? "" : `${next}\n\n`
  })
}
