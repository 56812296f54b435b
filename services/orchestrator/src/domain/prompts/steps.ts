/** What an author is asked in each of its steps: the part of a prompt that is about the step. Pure text. */
import { type GateResult, gateOutput, type Item, type Step } from "@reprise/protocol"
import type { PlannedPhase } from "../Event.ts"
import { plannedPhase } from "../phases.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { isContinued } from "./isContinued.ts"
import { paragraphs } from "./paragraphs.ts"
import { render } from "./render.ts"

const noneListed = "(none are listed: read the phase's text in the plan)"

const taskLines = (planned: PlannedPhase | undefined): string => {
  const lines = planned?.tasks.map(
    ({ checkpoint, id, name }) => `- ${id}: ${name}${checkpoint === undefined ? "" : ` (checkpoint: ${checkpoint})`}`
  )
  return lines === undefined || lines.length === 0 ? noneListed : lines.join("\n")
}

/** For an author that is handed the table of a continuation: no second list that grows with the plan. */
const taskCount = (planned: PlannedPhase | undefined): string =>
  planned === undefined || planned.tasks.length === 0
    ? noneListed
    : `(${planned.tasks.length}; those around the place to go on are in the table, and the plan has all)`

/** What the plan says of a phase, for templates. */
export const planValues = (run: Run, phase: PhaseRun) => {
  const planned = plannedPhase(run, phase.id)
  const gate = planned?.completionGate
  return {
    plan_path: run.request.planPath,
    phase: phase.id,
    tasks: isContinued(phase) ? taskCount(planned) : taskLines(planned),
    completion_gate: gate === undefined ? "" : `\n\nThe phase is complete when: ${gate}`
  }
}

const excerpt = (result: GateResult): string => {
  const output = gateOutput(result)
  return output === "" ? "(no output)" : output
}

const failureText = (result: GateResult): string => {
  const end = result.timedOut
    ? "timed out"
    : result.exitCode === null
      ? "could not be run to its end"
      : `exit code ${result.exitCode}`
  return `$ ${result.command}\n${end}; the whole output is in ${result.logRef}\n${excerpt(result)}`
}

const failedGates = (results: ReadonlyArray<GateResult>) =>
  results.filter((result) => result.exitCode !== 0 || result.timedOut)

/** Each item as the reviewer wrote it. */
const itemLines = (items: ReadonlyArray<Item>): string =>
  items
    .map(({ id, priority, reason, title }) => `- ${id} [${priority}] ${title}${reason === "" ? "" : `\n  ${reason}`}`)
    .join("\n")

const dirtyListed = 100

const dirtyLines = (dirty: ReadonlyArray<string>): string => {
  const more = dirty.length - dirtyListed
  const lines = dirty.slice(0, dirtyListed).map((path) => `- ${path}`)
  return [...lines, ...(more > 0 ? [`- and ${more} more: \`git status\` lists them`] : [])].join("\n")
}

/** The part about the step. With nothing raised by a review, AUTO_FIX is there for the guidance or for the tree. */
export const stepTask = (run: Run, phase: PhaseRun, step: Step): string => {
  switch (step) {
    case "QUALITY_RETRY":
      return render(run, "quality-retry", {
        failures: paragraphs(...failedGates(phase.gateResults).map(failureText))
      })
    case "AUTO_FIX":
      return phase.dirty.length > 0
        ? render(run, "clean-tree", { dirty: dirtyLines(phase.dirty) })
        : render(run, "auto-fix", {
            cycle: String(phase.reviewCycles),
            items: phase.items.length === 0 ? "(none: follow the guidance below)" : itemLines(phase.items)
          })
    default:
      return render(run, "work", planValues(run, phase))
  }
}
