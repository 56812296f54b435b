/** Where a command works: the git repository around the current directory, and its `.reprise`. */
import { execFile } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { missing, wrongUse } from "../CliFailure.ts"

export interface Project {
  /** Absolute, symlinks resolved. */
  readonly root: string
  /** `.reprise` below the root; may not exist yet. */
  readonly directory: string
}

const run = promisify(execFile)

/** Without what would bend git to another repository. */
export const gitEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")))

const worktrees = `${sep}.reprise${sep}worktrees${sep}`

/** Fails with exit code 3 outside of a git repository. A worktree of Reprise's own belongs to the repository it is in. */
export const findProject = Effect.fn("findProject")(function* (from: string) {
  const { stdout } = yield* Effect.tryPromise({
    try: () => run("git", ["rev-parse", "--show-toplevel"], { cwd: from, env: gitEnvironment() }),
    catch: (cause) =>
      cause instanceof Error && "code" in cause && cause.code === "ENOENT"
        ? missing("git-missing", "git is not installed.", "Install git and try again.")
        : missing(
            "not-a-repository",
            `${from} is not in a git repository.`,
            "Reprise records work as commits: run 'git init' and commit what is there, or go to your repository.",
            cause
          )
  })
  const top = realpathSync(stdout.trimEnd())
  const nested = top.indexOf(worktrees)
  const root = nested < 0 ? top : top.slice(0, nested)
  return projectAt(root)
})

/** A folder that is taken as it is, such as a container's. */
export const projectAt = (root: string): Project => ({ root, directory: join(root, ".reprise") })

/** Whether a broker ever ran here. */
export const isInitialised = (project: Project): boolean => existsSync(join(project.directory, "nats", "jetstream"))

/** The plan's path relative to the root; a plan outside of the repository is wrong use. */
export const planPathIn = Effect.fnUntraced(function* (project: Project, from: string, plan: string) {
  const absolute = resolve(from, plan)
  const real = yield* Effect.try({
    try: () => realpathSync(absolute),
    catch: () =>
      wrongUse(
        "plan-missing",
        `There is no plan at ${plan}.`,
        "Give the path of a markdown file; 'reprise validate PLAN' checks it."
      )
  })
  const path = relative(project.root, real)
  if (path === "" || path.startsWith("..") || isAbsolute(path)) {
    return yield* wrongUse(
      "plan-outside",
      `The plan ${plan} lies outside of the repository ${project.root}.`,
      "Move the plan into the repository: it is read again after each phase."
    )
  }
  return { relative: path, absolute: real }
})
