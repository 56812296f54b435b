/** The git repository that a command works in, and its `.reprise` folder. */
import { existsSync, realpathSync } from "node:fs"
import { join, sep } from "node:path"
import { type ProgramFailed, runGit, saysNoWorkTree } from "@reprise/process"
import { Effect } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import { visibleLine } from "../terminal/visible.ts"

export interface Project {
  /** Absolute, symlinks resolved. */
  readonly root: string
  /** `.reprise` below the root; may not exist yet. */
  readonly directory: string
}

const worktrees = `${sep}.reprise${sep}worktrees${sep}`

/** Whether a path is the top of a worktree that Reprise made in this project. */
export const isOwnWorktree = ({ root }: Project, path: string): boolean => path.startsWith(`${root}${worktrees}`)

/** The repository of a worktree that Reprise made, such as that of a host that clones remotes. Undefined: Reprise did not make it. */
export const repositoryOf = (path: string): Project | undefined => {
  const nested = path.indexOf(worktrees)
  return nested < 0 ? undefined : projectAt(path.slice(0, nested))
}

/** Where the folder itself cannot be named, the system says the same as where git is not there. */
const notStarted = (from: string, error: ProgramFailed) => {
  if (error.reason === "not-found" && !existsSync(from)) {
    return missing(
      "no-such-folder",
      `${visibleLine(from)} is not there, or its name is not text in UTF-8.`,
      "Change to a folder that can be named, or rename this one."
    )
  }
  return error.reason === "not-found"
    ? missing("git-missing", "git is not installed.", "Install git and try again.")
    : missing("git", error.message, "Fix what git reports, then try again.", error)
}

/** Why git finds no working tree at a directory, from its message. */
const notFound = (from: string, message: string) => {
  if (saysNoWorkTree(message)) {
    return missing(
      "no-work-tree",
      `${visibleLine(from)} has no working tree: it is a bare repository or git's own directory.`,
      "Work in a clone instead."
    )
  }
  if (/not a git repository/i.test(message)) {
    return missing(
      "not-a-repository",
      `${visibleLine(from)} is not in a git repository.`,
      "Reprise records work as commits: run 'git init' and commit your files, or change to your repository."
    )
  }
  return missing(
    "git",
    `git cannot open the repository at ${visibleLine(from)}: ${message}`,
    "Fix what git reports, then try again."
  )
}

/** The top of the working tree around a directory, symlinks resolved. */
export const topLevel = (from: string) =>
  runGit(from, ["rev-parse", "--show-toplevel"]).pipe(
    Effect.mapError((error) => notStarted(from, error)),
    Effect.flatMap(({ exitCode, stderr, stdout }) =>
      exitCode === 0
        ? Effect.succeed(realpathSync(stdout.replace(/\n$/, "")))
        : Effect.fail(notFound(from, stderr.trim()))
    )
  )

/**
 * The repository around a directory. Fails with exit code 3 if there is none. A worktree that Reprise made belongs to the
 * repository it is in. Whether the state folder can be believed is not checked: read nothing from it.
 */
export const findRepository = Effect.fn("findRepository")(function* (from: string) {
  const top = yield* topLevel(from)
  return repositoryOf(top) ?? projectAt(top)
})

/** A folder that need not be a repository, such as a container's. */
export const projectAt = (root: string): Project => ({ root, directory: join(root, ".reprise") })

/** Whether a broker ever ran here. */
export const isInitialised = (project: Project): boolean => existsSync(join(project.directory, "nats", "jetstream"))

/** The archive of a run or standalone session that was pruned, relative to the project's root. */
export const archivePath = (runId: string): string => `.reprise/archive/${runId}.json`
