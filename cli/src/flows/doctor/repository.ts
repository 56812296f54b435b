/** Checks that a run can work in the repository: its state, its commits and its disk. Nothing is written. */
import { accessSync, constants, statfsSync, statSync } from "node:fs"
import { runGit } from "@reprise/process"
import { type TreeProgram, treeProgramsOf } from "@reprise/sandbox"
import { Effect } from "effect"
import type { Project } from "../../project/Project.ts"
import { broken, type Finding, ok, warning } from "./findings.ts"

/** Why the state cannot be kept there, if so. */
const obstacle = ({ directory, root }: Project): string | undefined => {
  const state = statSync(directory, { throwIfNoEntry: false })
  if (state?.isDirectory() === false) return `${directory} is not a folder.`
  const folder = state === undefined ? root : directory
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `${folder} is not writable.`
  }
}

export const checkRepository = (project: Project): Effect.Effect<Finding> =>
  Effect.sync(() => {
    const why = obstacle(project)
    return why === undefined
      ? ok("repository", project.root)
      : broken("repository", why, "Make it writable, or work in your own clone.")
  })

/** What git says, or "" where it has nothing to say. */
const gitSays = (root: string, ...args: ReadonlyArray<string>) =>
  runGit(root, args).pipe(
    Effect.map(({ stdout }) => stdout.trim()),
    Effect.orElseSucceed(() => "")
  )

/** A run begins at a commit. */
export const checkFirstCommit = Effect.fnUntraced(function* ({ root }: Project) {
  const head = yield* gitSays(root, "rev-parse", "--verify", "--quiet", "--short", "HEAD")
  return head === ""
    ? warning("commits", "The repository has no commit yet.", "Commit your plan first: git add, git commit.")
    : ok("commits", `HEAD is ${head}`)
})

/** Authors commit as whoever git says. */
export const checkIdentity = Effect.fnUntraced(function* ({ root }: Project) {
  const [name, email] = [yield* gitSays(root, "config", "user.name"), yield* gitSays(root, "config", "user.email")]
  return name === "" || email === ""
    ? warning(
        "git identity",
        "Git does not know who commits: an author's commit may fail.",
        "git config --global user.name 'Your Name'; git config --global user.email you@example.com"
      )
    : ok("git identity", `${name} <${email}>`)
})

const mostTold = 5

const told = ({ file, name, text }: TreeProgram) =>
  `${name}: ${text.slice(0, 100)}${file === undefined ? "" : ` (in ${file})`}`

/** git runs these outside of the sandbox, whoever uses it. Nothing where there are none. */
export const checkGitPrograms = Effect.fnUntraced(function* ({ root }: Project) {
  const found = yield* Effect.tryPromise(() => treeProgramsOf(root, process.env)).pipe(
    Effect.orElseSucceed((): ReadonlyArray<TreeProgram> => [])
  )
  if (found.length === 0) return []
  const more = found.length > mostTold ? ` And ${found.length - mostTold} more.` : ""
  return [
    warning(
      "git programs",
      `Your git runs programs outside of the sandbox that are chosen by files which agents can write: ${found.slice(0, mostTold).map(told).join("; ")}.${more}`,
      "Review an agent's changes before you use git in its tree. Or name a program outside of the repository by its absolute path, or remove the setting: 'git config --list --show-origin' says where it is."
    )
  ]
})

const leastFreeBytes = 1024 ** 3

/** The broker keeps journals and conversations beside the repository. */
export const checkDisk = ({ root }: Project): Effect.Effect<Finding> =>
  Effect.sync(() => {
    const { bavail, bsize } = statfsSync(root)
    const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GB free`
    return bavail * bsize < leastFreeBytes
      ? warning("disk", free, "Make room: a run needs about 1 GB. 'reprise prune' removes the records of old runs.")
      : ok("disk", free)
  })
