/** What a plan contains and what its run would do first, as data and as text. Pure; spends nothing. */
import { plannedAgents } from "@reprise/orchestrator/agents"
import { preview } from "@reprise/orchestrator/preview"
import { type Plan, taskList } from "@reprise/plan"
import { type AgentChoice, type CommandOf, defined, type ReportKind, sessionPrompts } from "@reprise/protocol"
import { firstPrompt } from "@reprise/reviewer/prompts"
import { reportPrompt, reportRequest } from "@reprise/session-manager/prompts"
import { Result, Struct } from "effect"
import { visible } from "../terminal/visible.ts"

/** The command that would start the run. */
export type StartRun = Extract<CommandOf<"orchestrator">, { readonly _tag: "StartRun" }>

type Reporting = Parameters<typeof reportRequest>[1]

/**
 * The exact prompts of the first phase, made by the services' own functions. `work` ends with
 * `request`; `report` follows only if the agent gives no report with its work. Undefined if no phase is left to do.
 */
const firstPrompts = (start: StartRun, reporting: Reporting) => {
  const { prompts } = sessionPrompts(start.options.prompts)
  const reports = (form: ReportKind) => ({
    request: reportRequest(form, reporting, prompts),
    report: reportPrompt(form, prompts)
  })
  const first = Result.getOrUndefined(preview(start))
  return first === undefined
    ? undefined
    : {
        phase: first.phase,
        author: { work: first.work, ...reports("author-status") },
        reviewer: { work: firstPrompt(first.review), ...reports("verdict") }
      }
}

export const describePlan = (plan: Plan, start: StartRun, reporting: Reporting) => {
  const { gates, model, permissions, reviewerModel, reviewerRuntime, runtime, skipQuality } = start.options
  const agents = plannedAgents(start.options)
  return {
    planPath: start.planPath,
    ...defined({ id: plan.id, title: plan.title }),
    phases: plan.phases.map((phase) => ({
      ...Struct.pick(phase, ["id", "title", "done", "completionGate"]),
      tasks: taskList(phase).map((task) => Struct.pick(task, ["id", "text", "checked", "checkpoint"]))
    })),
    gates: { quality: skipQuality ? [] : gates.quality, verify: gates.verify, phase: gates.phase },
    permissions,
    runtime,
    ...defined({ model, reviewerRuntime, reviewerModel }),
    agents,
    notes: plan.notes.map(({ column, line, message }) => ({ line, column, message })),
    reporting,
    prompts: firstPrompts(start, reporting) ?? null
  }
}

type PlanDescription = ReturnType<typeof describePlan>

const phaseLines = (phase: PlanDescription["phases"][number]): ReadonlyArray<string> => [
  `Phase ${phase.id}: ${phase.title}${phase.done ? " (marked complete)" : ""}`,
  ...phase.tasks.map(
    (task) =>
      `  [${task.checked ? "x" : " "}] ${task.id} ${task.text}${task.checkpoint === undefined ? "" : ` (checkpoint: ${task.checkpoint})`}`
  ),
  ...(phase.completionGate === undefined ? [] : [`  completion gate: ${phase.completionGate}`])
]

/** The author, and the reviewer where it is another one, in the words of the settings. */
const runtimeText = ({ agents }: PlanDescription): string => {
  const own = agents.filter(({ rule }) => rule === undefined)
  const [author, ...others] = own.map(({ role, ...agent }) => ({ role, text: settingText(agent) }))
  const different = others.filter(({ role, text }) => role === "fixer" || text !== author?.text)
  return [`runtime: ${author?.text}`, ...different.map(({ role, text }) => `${role}: ${text}`)].join("; ")
}

const settingText = ({ model, runtime, variant }: AgentChoice): string =>
  [runtime, ...(model === undefined ? [] : [model]), ...(variant === undefined ? [] : [`variant ${variant}`])].join(
    ", "
  )

/** In the order in which they are looked at: the last that applies decides. */
const ruleLines = ({ agents }: PlanDescription): ReadonlyArray<string> =>
  agents.flatMap(({ role, rule, ...agent }) =>
    rule === undefined ? [] : [`Rule ${rule.number} of the ${role}: ${rule.when}, ${settingText(agent)}`]
  )

const gateLines = (plan: PlanDescription): ReadonlyArray<string> => {
  const { gates, permissions } = plan
  return [
    gates.quality.length === 0
      ? "No quality gates: list the commands that must pass as quality under [gates] in reprise.toml."
      : `Quality gates after each phase: ${gates.quality.join(", ")}`,
    ...(gates.verify.length === 0
      ? []
      : [`Under --auto, these commands verify human-verify checkpoints: ${gates.verify.join(", ")}`]),
    `Phase gate: ${gates.phase}; permissions: ${permissions}; ${runtimeText(plan)}`,
    ...ruleLines(plan)
  ]
}

const quoted = (text: string): string => `  | ${text.replaceAll("\n", "\n  | ")}`

type Asked = NonNullable<PlanDescription["prompts"]>["author"]

const promptLines = ({ prompts, reporting }: PlanDescription): ReadonlyArray<string> => {
  if (prompts === null) return ["No phase is left to do."]
  const asked = ({ report, request, work }: Asked) => [
    quoted(`${work}\n\n${request}`),
    ...(reporting === "asked" ? ["and then:", quoted(report)] : [])
  ]
  return [
    "",
    `The run starts with phase ${prompts.phase}. Its author is asked:`,
    ...asked(prompts.author),
    "When the commit is verified and the quality gates pass, a reviewer is asked:",
    ...asked(prompts.reviewer)
  ]
}

export const planText = (plan: PlanDescription): string =>
  [
    `${plan.planPath}${plan.title === undefined ? "" : `: ${plan.title}`}`,
    ...plan.phases.flatMap(phaseLines),
    ...gateLines(plan),
    ...plan.notes.map((note) => `note: ${plan.planPath}:${note.line}:${note.column} ${note.message}`),
    ...promptLines(plan)
  ]
    .map(visible)
    .join("\n")
