/** The worktrees of this repository that Reprise made, and the runs that worked in them. */
import { basename } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RunView } from "@reprise/protocol"
import { Git, listWorktrees, worktreeState } from "@reprise/workspace"
import { Effect, Layer } from "effect"
import type { Project } from "../../project/Project.ts"
import { listOf } from "../../system/clientSystem.ts"
import { missing } from "../../terminal/CliFailure.ts"

export interface WorktreeRow {
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
}

/** What the workspace service says of git, for a command. */
export const withGit = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R | Git>) =>
  effect.pipe(
    Effect.provide(Git.layer.pipe(Layer.provide(NodeServices.layer))),
    Effect.mapError((error) => missing("git", error.message, "Try 'git worktree list' there.", error))
  )

const newestIn = (runs: ReadonlyArray<RunView>, directory: string) =>
  runs.filter((run) => run.directory === directory).toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))[0]

export const worktreeRows = Effect.fn("worktreeRows")(function* (project: Project) {
  const runs = yield* listOf("orchestrator", RunView)
  const rows = Effect.gen(function* () {
    return yield* Effect.forEach(yield* listWorktrees(project.root), ({ branch, directory }) =>
      Effect.map(worktreeState(project.root, directory), ({ dirty, merged }): WorktreeRow => {
        const run = newestIn(runs, directory)
        return {
          name: basename(directory),
          directory,
          ...(branch === undefined ? {} : { branch }),
          merged,
          dirty,
          ...(run === undefined ? {} : { run: { runId: run.runId, status: run.status, planPath: run.planPath } })
        }
      })
    )
  })
  return yield* withGit(rows)
})
