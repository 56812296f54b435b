/** Where a command works: the git repository around the current directory, and its `.reprise`. */
import { execFile } from "node:child_process"
import { existsSync, realpathSync } from "node:fs"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import { missing, wrongUse } from "../terminal/CliFailure.ts"

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

const withoutTree = /must be run in a work tree/i

const notFound = (from: string, cause: unknown) => {
  if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") {
    return missing("git-missing", "git is not installed.", "Install git and try again.")
  }
  const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : ""
  if (withoutTree.test(said)) {
    return missing(
      "no-work-tree",
      `${from} has no working tree: it is a bare repository, or git's own directory.`,
      "Work in a clone of it.",
      cause
    )
  }
  return /not a git repository/i.test(said)
    ? missing(
        "not-a-repository",
        `${from} is not in a git repository.`,
        "Reprise records work as commits: run 'git init' and commit what is there, or go to your repository.",
        cause
      )
    : missing("git", `git does not take ${from} for a repository: ${said}`, "Do what git says, then try again.", cause)
}

/** The top of the working tree around a directory, links resolved. */
const topLevel = (from: string) =>
  Effect.tryPromise({
    try: () => run("git", ["rev-parse", "--show-toplevel"], { cwd: from, env: { ...gitEnvironment(), LC_ALL: "C" } }),
    catch: (cause) => notFound(from, cause)
  }).pipe(Effect.map(({ stdout }) => realpathSync(stdout.replace(/\n$/, ""))))

/** Fails with exit code 3 outside of a git repository. A worktree of Reprise's own belongs to the repository it is in. */
export const findProject = Effect.fn("findProject")(function* (from: string) {
  const top = yield* topLevel(from)
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
  if (plan.trim() === "") {
    return yield* wrongUse("plan-missing", "The plan has no name.", "Give the path of a markdown file.")
  }
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
  const owner = yield* topLevel(dirname(real))
  if (owner !== project.root && !owner.startsWith(`${project.root}${worktrees}`)) {
    return yield* wrongUse(
      "plan-elsewhere",
      `The plan ${plan} is a file of another repository, ${owner}.`,
      `Run it there: cd ${owner}`
    )
  }
  return { relative: path, absolute: real }
})
