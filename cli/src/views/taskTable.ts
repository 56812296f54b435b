/** What a run's journal says of the tasks of its plan, for people (continuation: the summary). Pure. */
import type { Summary, TaskResult } from "@reprise/plan"
import { visible } from "../terminal/Printer.ts"
import { table } from "./table.ts"

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

export const tasksTable = (tasks: ReadonlyArray<TaskOfRun>): string =>
  table(
    ["phase", "task", "name", "status", "commit", "checkpoint"],
    tasks.map(({ checkpoint = "", commit = "", id, name, phase, resolution, status }) => {
      const answered = resolution === undefined ? "" : `: ${short(resolution)}`
      return [phase, visible(id), short(name), status, commit.slice(0, 10), `${checkpoint}${answered}`]
    })
  )
