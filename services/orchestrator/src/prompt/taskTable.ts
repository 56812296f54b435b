/**
 * The tasks around the place to resume, as a table. The record lists all completed tasks and the plan lists all tasks:
 * the table does not grow with either (docs/design/continuation.md#the-prompt).
 */
import { quote } from "@reprise/plan/quote"
import type { CompletedTask } from "@reprise/protocol"
import type { PlannedPhase } from "../run/journal.ts"
import { shorten, shortenPath } from "../run/text.ts"

/** How many rows are shown before the place to resume, and how many after it. */
const rowsBefore = 8
const rowsAfter = 3
const filesListed = 2
const none = "—"

type Status = "complete" | "checkpoint" | "pending"

interface Row {
  readonly id: string
  readonly name: string
  readonly status: Status
  readonly done?: CompletedTask | undefined
}

export interface TableFocus {
  /** The checkpoint's task, as long as its answer is still to be acted upon. */
  readonly checkpoint?: string | undefined
  /** Absent: no task is left. */
  readonly resumeAt?: string | undefined
  /** Done although no commit was listed for it: its verification passed. */
  readonly verified?: string | undefined
}

const rowsOf = (
  planned: PlannedPhase | undefined,
  completed: ReadonlyArray<CompletedTask>,
  { checkpoint, verified }: TableFocus
): ReadonlyArray<Row> => {
  const done = new Map(completed.map((task) => [task.id, task]))
  const tasks = planned?.tasks ?? []
  const known = new Set(tasks.map(({ id }) => id))
  const unplanned = [...done.keys(), ...(checkpoint === undefined ? [] : [checkpoint])].filter((id) => !known.has(id))
  const row = (id: string, name: string): Row => {
    const isDone = done.has(id) || id === verified
    return { id, name, done: done.get(id), status: id === checkpoint ? "checkpoint" : isDone ? "complete" : "pending" }
  }
  return [...[...new Set(unplanned)].map((id) => row(id, "")), ...tasks.map(({ id, name }) => row(id, name))]
}

const filesOf = (files: ReadonlyArray<string>): string => {
  const listed = files.slice(0, filesListed).map((path) => shortenPath(path, 48))
  const more = files.length - listed.length
  return listed.length === 0 ? none : `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const lineOf = ({ done, id, name, status }: Row): string => {
  const cell = (text: string, longest: number) => shorten(text, longest).replaceAll("|", "/")
  const commit = done === undefined ? none : done.commit.slice(0, 12)
  const files = done === undefined ? none : filesOf(done.files).replaceAll("|", "/")
  return `| ${cell(id, 40)} | ${cell(name, 48)} | ${commit} | ${files} | ${status} |`
}

const count = (rows: ReadonlyArray<Row>, status: Status) => rows.filter((row) => row.status === status).length

export const taskTable = (
  planned: PlannedPhase | undefined,
  completed: ReadonlyArray<CompletedTask>,
  focus: TableFocus
): string => {
  const rows = rowsOf(planned, completed, focus)
  const row = rows.findIndex(({ id }) => id === (focus.resumeAt ?? focus.checkpoint))
  const middle = row < 0 ? rows.findLastIndex(({ status }) => status !== "pending") + 1 : row
  const from = Math.max(0, middle - rowsBefore)
  const shown = rows.slice(from, middle + rowsAfter + 1)
  const hidden = [...rows.slice(0, from), ...rows.slice(middle + rowsAfter + 1)]
  const left = [
    ...(count(hidden, "complete") > 0 ? [`${count(hidden, "complete")} complete`] : []),
    ...(count(hidden, "checkpoint") > 0 ? ["the checkpoint"] : []),
    ...(count(hidden, "pending") > 0 ? [`${count(hidden, "pending")} pending`] : [])
  ]
  return [
    quote(
      [
        "| Task ID | Task Name | Commit | Files Changed | Status |",
        "| --- | --- | --- | --- | --- |",
        ...shown.map(lineOf)
      ].join("\n")
    ),
    ...(left.length === 0
      ? []
      : ["", `Not shown: ${left.join(", ")}. The record lists the completed tasks, the plan lists all tasks.`])
  ].join("\n")
}
