/** Prints SUMMARY.md. Text from agents and humans is put on one line without control characters, so it cannot add sections. */
import { addTokens, agentText, noTokens, stepAgentText, type Tokens } from "@reprise/protocol"
import type { Summary, TaskResult, Usage } from "./Summary.ts"

/** Markdown with `\n` line ends. Equal summaries give equal texts. Empty sections are left out, except the tasks. */
export const renderSummary = (summary: Summary): string =>
  `${[
    `# Summary: ${line(summary.title ?? summary.planId)}${summary.phase === undefined ? "" : `, phase ${summary.phase}`}`,
    header(summary),
    "## Task Results",
    ...taskSections(summary),
    ...section("Checklist", checklist(summary)),
    ...section(
      "Overrides",
      summary.overrides.map(({ phase, by, reason }) => `- Phase ${phase}, by ${line(by)}: ${line(reason)}`)
    ),
    ...section(
      "Declined Findings",
      summary.declined.map(
        ({ phase, id, title, reason }) => `- Phase ${phase}, ${line(id)}: ${line(title)} (${line(reason)})`
      )
    ),
    ...section(
      "Deviations",
      summary.deviations.map((text) => `- ${line(text)}`)
    ),
    ...section(
      "Agents",
      (summary.agents ?? []).map(({ phase, ...agent }) => `- Phase ${phase}: ${line(stepAgentText(agent))}`)
    ),
    ...section("Other Authors", (summary.authors ?? []).map(authorLine)),
    ...section("Refused Permissions", askedFor(summary.refusals).map(refusalLine)),
    ...section("Refused by the Sandbox", bySandbox(summary.refusals).map(refusalLine)),
    ...section("Tokens and Cost", usageTable(summary.usage)),
    ...section("Saved by Continuation", savings(summary.saved))
  ].join("\n\n")}\n`

const authorLine = ({ by, phase, ...agent }: NonNullable<Summary["authors"]>[number]): string =>
  `- Phase ${phase}: ${line(agentText(agent))}, chosen by ${line(by)}`

const longestRefusal = 200

const askedFor = (refusals: Summary["refusals"]) => refusals.filter(({ sandbox }) => sandbox === undefined)

const bySandbox = (refusals: Summary["refusals"]) => refusals.filter(({ sandbox }) => sandbox !== undefined)

const refusalLine = ({ gate, phase, role, text, times }: Summary["refusals"][number]): string => {
  const where = phase === undefined ? "Before the first phase" : `Phase ${phase}`
  const letters = [...line(text)]
  const wish = letters.length <= longestRefusal ? letters.join("") : `${letters.slice(0, longestRefusal - 1).join("")}…`
  const who = gate === undefined ? role : `quality gate ${line(gate)}`
  return `- ${where}, ${who}${times === 1 ? "" : `, ${times} times`}: ${wish}`
}

const header = ({ planId, runId, phases }: Summary) =>
  [
    `- **Plan**: ${line(planId)}`,
    ...(runId === undefined ? [] : [`- **Run**: ${line(runId)}`]),
    ...phases.map(({ id, title, completedBy }) => {
      const state =
        completedBy === undefined ? "not complete" : completedBy === "override" ? "complete by override" : "complete"
      return `- **Phase ${id}**: ${line(title)} (${state})`
    })
  ].join("\n")

const taskSections = ({ phases }: Summary): ReadonlyArray<string> => {
  const tasks = phases.flatMap((phase) => phase.tasks.map((task) => ({ task, phase: phase.id })))
  return tasks.length === 0
    ? ["No tasks."]
    : tasks.map(({ task, phase }, index) => taskSection(task, index + 1, phases.length > 1 ? phase : undefined))
}

const taskSection = (task: TaskResult, number: number, phase: string | undefined): string => {
  const suffix = task.checkpoint === undefined ? "" : ` (checkpoint: ${task.checkpoint})`
  const subject = task.subject === undefined ? "" : ` - ${line(task.subject)}`
  return [
    `### Task ${number}: ${line(task.name)}${suffix}`,
    "",
    `- **Id**: \`${line(task.id)}\`${phase === undefined ? "" : ` in phase ${phase}`}`,
    ...(task.resolution === undefined ? [] : [`- **Checkpoint resolution**: ${line(task.resolution)}`]),
    `- **Commit**: ${task.commit === undefined ? "none" : `\`${line(task.commit)}\`${subject}`}`,
    `- **Status**: ${task.status}`
  ].join("\n")
}

const isComplete = ({ status }: TaskResult) => status.startsWith("complete")

/** The plan's items as the run completed them, with a remark where only the plan's box is ticked. */
const checklist = ({ phases }: Summary): ReadonlyArray<string> =>
  phases.flatMap(({ tasks }) =>
    tasks.map((task) => {
      const claimed = task.checked === true && !isComplete(task) ? " (ticked in the plan)" : ""
      const name = task.name === task.id ? "" : ` ${line(task.name)}`
      return `- [${isComplete(task) ? "x" : " "}] ${line(task.id)}${name}${claimed}`
    })
  )

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")]

const usageTable = (usage: ReadonlyArray<Usage>): ReadonlyArray<string> => {
  if (usage.length === 0) return []
  const total = usage.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens)
  const cost = usage.reduce((sum, each) => sum + each.cost, 0)
  return [
    "| Phase | Role | Input | Output | Reasoning | Cache read | Cache write | Cost |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...usage.map(({ phase, role, tokens, cost }) => usageRow(phase, role, tokens, cost)),
    usageRow("all", "", total, cost)
  ]
}

const usageRow = (phase: string, role: string, tokens: Tokens, cost: number) =>
  `| ${[phase, role, tokens.input, tokens.output, tokens.reasoning, tokens.cacheRead, tokens.cacheWrite, `$${cost.toFixed(4)}`].join(" | ")} |`

const savings = (saved: Summary["saved"]): ReadonlyArray<string> =>
  saved === undefined
    ? []
    : [
        `- ${saved.cachedTokens} tokens read from the runtime's cache in ${saved.continuedTurns} continued turns`,
        `- ${saved.unsentTokens} tokens of earlier turns not sent again to fresh authors`,
        "",
        "Counted from what the runtime reported."
      ]

const line = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim()
