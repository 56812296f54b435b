/** What a run's journal says of the tasks of its plan, for people (continuation: the summary). Pure. */
import type { Summary, TaskResult } from "@reprise/plan"
import Table from "cli-table3"
import { visible } from "../Printer.ts"

export interface TaskOfRun extends TaskResult {
  readonly phase: string
}

/** In the plan's order; phases in which nothing has happened yet are left out. */
export const tasksBegun = (summary: Summary | undefined): ReadonlyArray<TaskOfRun> =>
  (summary?.phases ?? [])
    .filter(({ commit, completedBy, tasks }) => {
      const begun = tasks.some(({ status }) => status !== "pending")
      return begun || commit !== undefined || completedBy !== undefined
    })
    .flatMap(({ id, tasks }) => tasks.map((task) => ({ phase: id, ...task })))

const longestName = 48

const short = (text: string): string => {
  const letters = [...visible(text)]
  return letters.length <= longestName ? letters.join("") : `${letters.slice(0, longestName - 1).join("")}…`
}

export const tasksTable = (tasks: ReadonlyArray<TaskOfRun>): string => {
  const table = new Table({
    style: { head: [], border: [] },
    head: ["phase", "task", "name", "status", "commit", "checkpoint"]
  })
  for (const { checkpoint = "", commit = "", id, name, phase, resolution, status } of tasks) {
    const answered = resolution === undefined ? "" : `: ${short(resolution)}`
    table.push([phase, visible(id), short(name), status, commit.slice(0, 10), `${checkpoint}${answered}`])
  }
  return table.toString()
}
