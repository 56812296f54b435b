/** `reprise worktree list` and `reprise worktree remove WORKTREE`: the worktrees that Reprise made in this repository. */
import { basename, resolve } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { defined, type RunView, type SessionView } from "@reprise/protocol"
import { Git, listWorktrees, removeWorktree, worktreeState } from "@reprise/workspace"
import { Effect, Layer } from "effect"
import { findProject } from "../../project/findProject.ts"
import type { Project } from "../../project/Project.ts"
import { type ClientFlags, withClient } from "../../system/clientSystem.ts"
import { allRuns, allSessions } from "../../system/lookUp/lookUp.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible, visibleLine } from "../../terminal/visible.ts"
import { isOpenRun, isOver } from "../../views/ended.ts"
import { table } from "../../views/table.ts"

interface WorktreeRow {
  /** The run that it was made for. */
  readonly name: string
  /** Absolute. */
  readonly directory: string
  readonly branch?: string
  /** HEAD of the repository has all of its commits. */
  readonly merged: boolean
  /** Paths that are not committed. */
  readonly dirty: ReadonlyArray<string>
  /** The newest run that worked in it. */
  readonly run?: Pick<RunView, "runId" | "status" | "planPath">
  /** The fork that works in it. */
  readonly fork?: Pick<SessionView, "sessionId" | "status">
}

/** Git as the workspace service uses it; its failures become those of the command. */
const withGit = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R | Git>) =>
  effect.pipe(
    Effect.provide(Git.layer.pipe(Layer.provide(NodeServices.layer))),
    Effect.mapError((error) => missing("git", error.message, "Try 'git worktree list' in the repository.", error))
  )

const newestIn = (runs: ReadonlyArray<RunView>, directory: string) =>
  runs.filter((run) => run.directory === directory).toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))[0]

const worktreeRows = Effect.fn("worktreeRows")(function* (project: Project) {
  const runs = yield* allRuns
  const sessions = yield* allSessions
  const rows = Effect.gen(function* () {
    return yield* Effect.forEach(yield* listWorktrees(project.root), ({ branch, directory }) =>
      Effect.map(worktreeState(project.root, directory), ({ dirty, merged }): WorktreeRow => {
        const run = newestIn(runs, directory)
        const fork = sessions.find((session) => session.forkedFrom !== undefined && session.directory === directory)
        return {
          name: basename(directory),
          directory,
          ...defined({ branch }),
          merged,
          dirty,
          ...(run === undefined ? {} : { run: { runId: run.runId, status: run.status, planPath: run.planPath } }),
          ...(fork === undefined ? {} : { fork: { sessionId: fork.sessionId, status: fork.status } })
        }
      })
    )
  })
  return yield* withGit(rows)
})

/** An open run whose commits are all in HEAD has made none yet, or will make more. */
export const stateOf = ({ dirty, merged, run }: Pick<WorktreeRow, "dirty" | "merged" | "run">): string =>
  [
    merged ? (run !== undefined && isOpenRun(run) ? "nothing to merge yet" : "merged") : "not merged",
    ...(dirty.length === 0 ? [] : [`${dirty.length} uncommitted`])
  ].join(", ")

export const listWorktreeRows = (flags: ClientFlags) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const rows = yield* worktreeRows(yield* findProject(process.cwd()))
      if (flags.json) return okJson(rows)
      if (rows.length === 0) return data("No worktrees: 'reprise run PLAN.md --worktree' makes one.")
      const cells = rows.map((row) => {
        const run = row.run === undefined ? "" : `${row.run.runId} ${row.run.status}`
        const fork = row.fork === undefined ? "" : `${row.fork.sessionId} ${row.fork.status}`
        return [row.name, row.branch ?? "", run === "" ? fork : run, stateOf(row)].map(visible)
      })
      data(table(["worktree", "branch", "run", "state"], cells))
    })
  )

/** Whether the user named this worktree, by its name, run, branch or path. */
const isNamed = (row: WorktreeRow, given: string): boolean =>
  [row.name, row.branch, row.run?.runId, row.directory].includes(given) || resolve(given) === row.directory

/** Why a worktree must not be removed, if so. */
const obstacle = ({ branch, dirty, fork, name, run }: WorktreeRow, force: boolean) => {
  if (fork !== undefined && !isOver(fork)) {
    const hint = `Let it finish, or end it with 'reprise sessions abort ${fork.sessionId}'.`
    return wrongUse(
      "in-use",
      `The worktree ${name} belongs to session ${fork.sessionId}, which is ${fork.status}.`,
      hint
    )
  }
  if (run !== undefined && isOpenRun(run)) {
    const hint = `Let it finish, or end it with 'reprise abort ${run.runId}'.`
    return wrongUse("in-use", `The worktree ${name} belongs to run ${run.runId}, which is ${run.status}.`, hint)
  }
  if (dirty.length === 0 || force) return undefined
  const shown = dirty.slice(0, 10).map((path) => `  ${visibleLine(path)}`)
  return wrongUse(
    "not-committed",
    `The worktree ${name} has changes that are not committed:\n${shown.join("\n")}`,
    `Commit them to ${branch ?? "a branch"}, or discard them with --force.`
  )
}

/** The branch and its commits stay. */
export const removeWorktreeRow = (flags: ClientFlags & { readonly worktree: string; readonly force: boolean }) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const project = yield* findProject(process.cwd())
      const row = (yield* worktreeRows(project)).find((one) => isNamed(one, flags.worktree))
      if (row === undefined) {
        return yield* wrongUse(
          "unknown-worktree",
          `There is no worktree '${flags.worktree.slice(0, 200)}'.`,
          "'reprise worktree list' lists the worktrees that Reprise made."
        )
      }
      const problem = obstacle(row, flags.force)
      if (problem !== undefined) return yield* problem
      const { branch, directory, merged, name } = row
      yield* withGit(removeWorktree(project.root, directory))
      if (flags.json) return okJson({ worktree: name, directory, branch: branch ?? null })
      const kept = branch === undefined ? "" : `; its branch ${branch} stays${merged ? "" : " and is not merged yet"}`
      say(visible(`Removed ${directory}${kept}.`))
    })
  )
