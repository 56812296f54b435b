/** What a plan holds and what a run of it would begin with, as data and as text. Pure. */
import { type Plan, taskList } from "@reprise/plan"
import { visible } from "../terminal/Printer.ts"
import { firstPrompts, type PlannedRun, promptsText } from "./firstPrompts.ts"

export const describePlan = (plan: Plan, { options, planPath, ...run }: PlannedRun) => ({
  planPath,
  ...(plan.id === undefined ? {} : { id: plan.id }),
  ...(plan.title === undefined ? {} : { title: plan.title }),
  phases: plan.phases.map((phase) => ({
    id: phase.id,
    title: phase.title,
    done: phase.done,
    ...(phase.completionGate === undefined ? {} : { completionGate: phase.completionGate }),
    tasks: taskList(phase).map((task) => ({
      id: task.id,
      text: task.text,
      checked: task.checked,
      ...(task.checkpoint === undefined ? {} : { checkpoint: task.checkpoint })
    }))
  })),
  gates: {
    quality: options.skipQuality ? [] : options.gates.quality,
    verify: options.gates.verify,
    phase: options.gates.phase
  },
  permissions: options.permissions,
  runtime: options.runtime,
  ...(options.model === undefined ? {} : { model: options.model }),
  notes: plan.notes.map(({ column, line, message }) => ({ line, column, message })),
  prompts: firstPrompts({ ...run, planPath, options }) ?? null
})

export type PlanDescription = ReturnType<typeof describePlan>

export const planText = (plan: PlanDescription): string =>
  [
    `${plan.planPath}${plan.title === undefined ? "" : `: ${plan.title}`}`,
    ...plan.phases.flatMap((phase) => [
      `Phase ${phase.id}: ${phase.title}${phase.done ? " (marked complete)" : ""}`,
      ...phase.tasks.map(
        (task) =>
          `  [${task.checked ? "x" : " "}] ${task.id} ${task.text}${task.checkpoint === undefined ? "" : ` (checkpoint: ${task.checkpoint})`}`
      ),
      ...(phase.completionGate === undefined ? [] : [`  completion gate: ${phase.completionGate}`])
    ]),
    plan.gates.quality.length === 0
      ? "No quality gates: [gates] quality in reprise.toml names the commands that must pass."
      : `Quality gates after each phase: ${plan.gates.quality.join(", ")}`,
    ...(plan.gates.verify.length === 0
      ? []
      : [`Under --auto, human-verify checkpoints are verified by: ${plan.gates.verify.join(", ")}`]),
    `Phase gate: ${plan.gates.phase}; permissions: ${plan.permissions}; runtime: ${plan.runtime}${plan.model === undefined ? "" : `, ${plan.model}`}`,
    ...plan.notes.map((note) => `note: ${plan.planPath}:${note.line}:${note.column} ${note.message}`),
    ...(plan.prompts === null ? ["No phase is left to do."] : promptsText(plan.prompts))
  ]
    .map(visible)
    .join("\n")
