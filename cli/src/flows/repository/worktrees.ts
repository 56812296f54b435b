/** `reprise worktree list|remove WORKTREE` */
import { resolve } from "node:path"
import { removeWorktree } from "@reprise/workspace"
import { Effect, type Option } from "effect"
import { findProject } from "../../project/Project.ts"
import { withReading } from "../../system/clientSystem.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say, visible } from "../../terminal/Printer.ts"
import { table } from "../../views/table.ts"
import { type WorktreeRow, withGit, worktreeRows } from "./worktreeRows.ts"

interface Flags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const stateOf = ({ dirty, merged }: WorktreeRow): string =>
  [merged ? "merged" : "not merged", ...(dirty.length === 0 ? [] : [`${dirty.length} not committed`])].join(", ")

export const list = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const rows = yield* worktreeRows(yield* findProject(process.cwd()))
      if (flags.json) return okJson(rows)
      if (rows.length === 0) return data("No worktrees: 'reprise run PLAN.md --worktree' makes one.")
      const cells = rows.map((row) => {
        const run = row.run === undefined ? "" : `${row.run.runId} ${row.run.status}`
        return [row.name, row.branch ?? "", run, stateOf(row)].map(visible)
      })
      data(table(["worktree", "branch", "run", "state"], cells))
    })
  )

const open = new Set<NonNullable<WorktreeRow["run"]>["status"]>(["running", "waiting", "paused"])

/** Whether `given` means this worktree: its name, its run, its branch or its path. */
const isMeant = (row: WorktreeRow, given: string): boolean =>
  [row.name, row.branch, row.run?.runId, row.directory].includes(given) || resolve(given) === row.directory

/** What keeps a worktree from being removed, as a sentence and the next step. */
const obstacle = ({ branch, dirty, name, run }: WorktreeRow, force: boolean) => {
  if (run !== undefined && open.has(run.status)) {
    const hint = `Let it finish, or end it with 'reprise abort ${run.runId}'.`
    return wrongUse("in-use", `The worktree ${name} belongs to run ${run.runId}, which is ${run.status}.`, hint)
  }
  if (dirty.length === 0 || force) return undefined
  const shown = dirty.slice(0, 10).map((path) => `  ${path}`)
  return wrongUse(
    "not-committed",
    `The worktree ${name} holds what is not committed:\n${visible(shown.join("\n"))}`,
    `Commit it to ${branch ?? "a branch"}, or lose it with --force.`
  )
}

/** The branch and its commits stay. */
export const remove = (flags: Flags & { readonly worktree: string; readonly force: boolean }) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const project = yield* findProject(process.cwd())
      const row = (yield* worktreeRows(project)).find((one) => isMeant(one, flags.worktree))
      if (row === undefined) {
        return yield* wrongUse(
          "unknown-worktree",
          `There is no worktree '${flags.worktree.slice(0, 200)}'.`,
          "'reprise worktree list' shows those that Reprise made."
        )
      }
      const problem = obstacle(row, flags.force)
      if (problem !== undefined) return yield* problem
      yield* withGit(removeWorktree(project.root, row.directory))
      if (flags.json) return okJson({ worktree: row.name, directory: row.directory, branch: row.branch ?? null })
      const kept =
        row.branch === undefined ? "" : `; its branch ${row.branch} stays${row.merged ? "" : ", not merged yet"}`
      say(visible(`Removed ${row.directory}${kept}.`))
    })
  )
