/** The git repository that a command works in, and its `.reprise` folder. */
import { execFile } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { join, sep } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { missing } from "../terminal/CliFailure.ts"

export interface Project {
  /** Absolute, symlinks resolved. */
  readonly root: string
  /** `.reprise` below the root; may not exist yet. */
  readonly directory: string
}

const run = promisify(execFile)

/** The environment without the variables that point git to another repository. */
export const gitEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")))

const worktrees = `${sep}.reprise${sep}worktrees${sep}`

/** Whether a path is the top of a worktree that Reprise made in this project. */
export const isOwnWorktree = ({ root }: Project, path: string): boolean => path.startsWith(`${root}${worktrees}`)

const withoutTree = /must be run in a work tree/i

const notFound = (from: string, cause: unknown) => {
  if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") {
    return missing("git-missing", "git is not installed.", "Install git and try again.")
  }
  const output = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : ""
  if (withoutTree.test(output)) {
    return missing(
      "no-work-tree",
      `${from} has no working tree: it is a bare repository or git's own directory.`,
      "Work in a clone instead.",
      cause
    )
  }
  return /not a git repository/i.test(output)
    ? missing(
        "not-a-repository",
        `${from} is not in a git repository.`,
        "Reprise records work as commits: run 'git init' and commit your files, or change to your repository.",
        cause
      )
    : missing("git", `git cannot open the repository at ${from}: ${output}`, "Do what git says, then try again.", cause)
}

/** The top of the working tree around a directory, symlinks resolved. */
export const topLevel = (from: string) =>
  Effect.tryPromise({
    try: () => run("git", ["rev-parse", "--show-toplevel"], { cwd: from, env: { ...gitEnvironment(), LC_ALL: "C" } }),
    catch: (cause) => notFound(from, cause)
  }).pipe(Effect.map(({ stdout }) => realpathSync(stdout.replace(/\n$/, ""))))

/** Fails with exit code 3 outside of a git repository. A worktree that Reprise made belongs to the repository it is in. */
export const findProject = Effect.fn("findProject")(function* (from: string) {
  const top = yield* topLevel(from)
  const nested = top.indexOf(worktrees)
  return projectAt(nested < 0 ? top : top.slice(0, nested))
})

/** A folder that need not be a repository, such as a container's. */
export const projectAt = (root: string): Project => ({ root, directory: join(root, ".reprise") })

/** Whether a broker ever ran here. */
export const isInitialised = (project: Project): boolean => existsSync(join(project.directory, "nats", "jetstream"))

/** The archive of a run or standalone session that was pruned, relative to the project's root. */
export const archivePath = (runId: string): string => `.reprise/archive/${runId}.json`
