/** What an author is asked in each of its steps: the part of a prompt that is about the step. Pure text. */
import type { GateResult, Item, Step } from "@reprise/protocol"
import type { PlannedPhase } from "../Event.ts"
import { plannedPhase } from "../phases.ts"
import type { PhaseRun, Run } from "../Run.ts"
import { fill, paragraphs, type TemplateName } from "./template.ts"

const closing = `Commit your work before you stop, in one commit or more, and leave no uncommitted change behind.
If you cannot go on without a human, stop and say clearly why.
Afterwards you will be asked for a report of what you did; do not write one now.`

const defaults: Readonly<Record<TemplateName, string>> = {
  work: `Read the plan {plan_path} and carry out its phase {phase}, and nothing that other phases are for.

The tasks of this phase:
{tasks}{completion_gate}

A task that is marked as a checkpoint needs a human. With human-verify: do and commit the task, then stop. With any other kind: stop before the task. Do nothing that comes after it. If you find that the architecture has to change, stop as well.

${closing}`,
  "quality-retry": `Your work was committed, but these quality gates fail. Find out why and mend it, without weakening any gate.

{failures}

${closing}`,
  "auto-fix": `Review cycle {cycle} of this phase raised the following items. Work on every one of them.

{items}

If you are convinced that an item is wrong, leave it and give your reason: the reviewer will be told.

${closing}`,
  "clean-tree": `The phase is approved, but the working tree is not clean. These files have changes that are not committed:

{dirty}

Commit what belongs to the phase, and remove or restore what does not.

${closing}`,
  "commit-rejected": `The commit {commit} that you reported was rejected ({reason}): {detail}

Put this right: the commit must exist, be reachable from HEAD, be newer than {base} and hold your work, and nothing may be left uncommitted. Commit what is missing, and report the hash of your newest commit.

${closing}`,
  "report-correction": `Your last report cannot be used: {problem}

Do no further work unless the report shows that some is missing. You will be asked for the report once more: give one that is complete and true.`,
  report: `You have worked in this session since the run stopped to ask a human, and are idle again. Do no further work now, except to commit what is not committed yet.

You will be asked for a report of where phase {phase} stands: give one that is complete and true.`,
  context: `Other agents have worked on this phase before you. Its work is committed up to {commit}; the phase began at {base}. Read the plan {plan_path} and the changes since then before you go on.

The tasks of this phase:
{tasks}{completion_gate}`,
  continuation: `Part of this phase is done and was verified. The record is in {state_path}.

{done}

{resolution}{resume}Before you go on, verify with \`git log\` that these commits exist. If any is missing, stop and say which: do not make it again. Write no task again that is done. Make one commit for each remaining task.`
}

/** The template, of the run's own options if it has one of this name, filled in. */
export const render = (run: Run, name: TemplateName, values: Readonly<Record<string, string>>): string =>
  fill(run.request.options.prompts[name] ?? defaults[name], values)

const taskLines = (planned: PlannedPhase | undefined): string => {
  const lines = planned?.tasks.map(
    ({ checkpoint, id, name }) => `- ${id}: ${name}${checkpoint === undefined ? "" : ` (checkpoint: ${checkpoint})`}`
  )
  return lines === undefined || lines.length === 0
    ? "(none are listed: read the phase's text in the plan)"
    : lines.join("\n")
}

/** What the plan says of a phase, for templates. */
export const planValues = (run: Run, phase: PhaseRun) => {
  const planned = plannedPhase(run, phase.id)
  const gate = planned?.completionGate
  return {
    plan_path: run.request.planPath,
    phase: phase.id,
    tasks: taskLines(planned),
    completion_gate: gate === undefined ? "" : `\n\nThe phase is complete when: ${gate}`
  }
}

const excerpt = ({ head, tail }: GateResult): string => {
  const whole = head === tail || tail === ""
  if (head === "" && tail === "") return "(no output)"
  return whole ? head : `${head}\n[…]\n${tail}`
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

/** The part about the step. With nothing raised by a review, AUTO_FIX is there for the guidance or for the tree. */
export const stepTask = (run: Run, phase: PhaseRun, step: Step): string => {
  switch (step) {
    case "QUALITY_RETRY":
      return render(run, "quality-retry", {
        failures: paragraphs(...failedGates(phase.gateResults).map(failureText))
      })
    case "AUTO_FIX":
      return phase.dirty.length > 0
        ? render(run, "clean-tree", { dirty: phase.dirty.map((path) => `- ${path}`).join("\n") })
        : render(run, "auto-fix", {
            cycle: String(phase.reviewCycles),
            items: phase.items.length === 0 ? "(none: follow the guidance below)" : itemLines(phase.items)
          })
    default:
      return render(run, "work", planValues(run, phase))
  }
}
