/** Runs as tables for people. Pure. */
import type { RunView, Tokens } from "@reprise/protocol"
import { dataColor, visible } from "../terminal/Printer.ts"
import { since } from "./questionText.ts"
import { table } from "./table.ts"

const statusWord = (run: RunView): string =>
  run.status === "completed"
    ? dataColor.green(run.status)
    : run.status === "waiting"
      ? dataColor.yellow(run.status)
      : run.status === "failed" || run.status === "aborted"
        ? dataColor.red(run.status)
        : run.status

export const runsTable = (runs: ReadonlyArray<RunView>, nowMs: number): string =>
  table(
    ["run", "plan", "status", "phase", "step", "since", "reason"],
    runs.map((run) => [
      run.runId,
      visible(run.planPath),
      statusWord(run),
      run.phase ?? "",
      run.step ?? "",
      since(run.updatedAt, nowMs),
      visible(run.reason ?? "")
        .split("\n")[0]
        ?.slice(0, 60) ?? ""
    ])
  )

const count = (tokens: Tokens): string =>
  `${tokens.input} in, ${tokens.output} out${tokens.cacheRead > 0 ? `, ${tokens.cacheRead} cached` : ""}`

/** What a run came to: phases, turns, sessions, tokens by role, and where things lie. */
export const runSummary = (run: RunView, places: ReadonlyArray<readonly [string, string]>): string => {
  const phases = run.phases.map((phase) => [
    phase.id,
    visible(phase.title),
    phase.state,
    phase.commit?.slice(0, 10) ?? "",
    phase.qualityAttempts,
    phase.reviewCycles
  ])
  const roles = (["author", "reviewer"] as const).map((role) => {
    const { cost, tokens, turns } = run.usage[role]
    return [role, turns, count(tokens), `$${cost.toFixed(4)}`]
  })
  const reused = run.sessionsReused
  return [
    `${dataColor.bold(run.runId)} ${statusWord(run)}${run.reason === undefined ? "" : `: ${visible(run.reason)}`}`,
    table(["phase", "title", "state", "commit", "gate runs", "reviews"], phases),
    `sessions: ${run.sessionsCreated} created, ${reused} time${reused === 1 ? "" : "s"} reused`,
    table(["role", "turns", "tokens", "cost"], roles),
    table(["what", "where"], places),
    ...run.notices.map((notice) => `note: ${visible(notice)}`)
  ].join("\n")
}
