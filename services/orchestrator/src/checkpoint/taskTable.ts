/**
 * The tasks around the place to go on, as a table. The record has all that are done and the plan has all: the table's size
 * does not grow with either (continuation: The prompt).
 */

import type { CompletedTask } from "@reprise/protocol"
import type { PlannedPhase } from "../actor/journal.ts"
import { shorten, shortenPath } from "../prompts.ts"

/** How many rows stand before the place to go on, and how many after it. */
const before = 8
const after = 3
const filesListed = 2
const none = "—"

type Status = "complete" | "checkpoint" | "pending"

interface Row {
  readonly id: string
  readonly name: string
  readonly status: Status
  readonly done?: CompletedTask | undefined
}

export interface TablePlace {
  /** The checkpoint's task, as long as its answer is to be acted upon. */
  readonly checkpoint?: string | undefined
  /** Absent: no task is left. */
  readonly resumeAt?: string | undefined
  /** Done although nobody listed a commit for it: a verification that passed. */
  readonly settled?: string | undefined
}

const rowsOf = (
  planned: PlannedPhase | undefined,
  completed: ReadonlyArray<CompletedTask>,
  { checkpoint, settled }: TablePlace
): ReadonlyArray<Row> => {
  const done = new Map(completed.map((task) => [task.id, task]))
  const tasks = planned?.tasks ?? []
  const known = new Set(tasks.map(({ id }) => id))
  const unplanned = [...done.keys(), ...(checkpoint === undefined ? [] : [checkpoint])].filter((id) => !known.has(id))
  const row = (id: string, name: string): Row => {
    const isDone = done.has(id) || id === settled
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
  place: TablePlace
): string => {
  const rows = rowsOf(planned, completed, place)
  const focus = rows.findIndex(({ id }) => id === (place.resumeAt ?? place.checkpoint))
  const middle = focus < 0 ? rows.findLastIndex(({ status }) => status !== "pending") + 1 : focus
  const from = Math.max(0, middle - before)
  const shown = rows.slice(from, middle + after + 1)
  const hidden = [...rows.slice(0, from), ...rows.slice(middle + after + 1)]
  const left = [
    ...(count(hidden, "complete") > 0 ? [`${count(hidden, "complete")} complete`] : []),
    ...(count(hidden, "checkpoint") > 0 ? ["the checkpoint"] : []),
    ...(count(hidden, "pending") > 0 ? [`${count(hidden, "pending")} pending`] : [])
  ]
  return [
    "| Task ID | Task Name | Commit | Files Changed | Status |",
    "| --- | --- | --- | --- | --- |",
    ...shown.map(lineOf),
    ...(left.length === 0 ? [] : ["", `Not shown: ${left.join(", ")}. The record has what is done, the plan has all.`])
  ].join("\n")
}
