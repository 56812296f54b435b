/** Runs as tables for people. Pure. */
import type { RunView, Tokens } from "@reprise/protocol"
import Table from "cli-table3"
import { dataColor, visible } from "../Printer.ts"
import { since } from "./question.ts"

const plain = { style: { head: [], border: [] } }

const statusWord = (run: RunView): string =>
  run.status === "completed"
    ? dataColor.green(run.status)
    : run.status === "waiting"
      ? dataColor.yellow(run.status)
      : run.status === "failed" || run.status === "aborted"
        ? dataColor.red(run.status)
        : run.status

export const runsTable = (runs: ReadonlyArray<RunView>, nowMs: number): string => {
  const table = new Table({ ...plain, head: ["run", "plan", "status", "phase", "step", "since", "reason"] })
  for (const run of runs) {
    table.push([
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
  }
  return table.toString()
}

const count = (tokens: Tokens): string =>
  `${tokens.input} in, ${tokens.output} out${tokens.cacheRead > 0 ? `, ${tokens.cacheRead} cached` : ""}`

/** What a run came to: phases, turns, sessions, tokens by role, and where things lie. */
export const runSummary = (run: RunView, places: ReadonlyArray<readonly [string, string]>): string => {
  const phases = new Table({ ...plain, head: ["phase", "title", "state", "commit", "gate runs", "reviews"] })
  for (const phase of run.phases) {
    phases.push([
      phase.id,
      visible(phase.title),
      phase.state,
      phase.commit?.slice(0, 10) ?? "",
      phase.qualityAttempts,
      phase.reviewCycles
    ])
  }
  const roles = new Table({ ...plain, head: ["role", "turns", "tokens", "cost"] })
  for (const role of ["author", "reviewer"] as const) {
    const { cost, tokens, turns } = run.usage[role]
    roles.push([role, turns, count(tokens), `$${cost.toFixed(4)}`])
  }
  const where = new Table({ ...plain, head: ["what", "where"] })
  for (const place of places) where.push([...place])
  const reused = run.sessionsReused
  return [
    `${dataColor.bold(run.runId)} ${statusWord(run)}${run.reason === undefined ? "" : `: ${visible(run.reason)}`}`,
    phases.toString(),
    `sessions: ${run.sessionsCreated} created, ${reused} time${reused === 1 ? "" : "s"} reused`,
    roles.toString(),
    where.toString(),
    ...run.notices.map((notice) => `note: ${visible(notice)}`)
  ].join("\n")
}
