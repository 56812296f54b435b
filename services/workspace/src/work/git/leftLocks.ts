/** What is done about a lock of git's before git is asked to do something (docs/design/workspace.md#workspace). */
import { dirname, join } from "node:path"
import { type GitLock, putAsideLocks } from "@reprise/process"
import { type Duration, Effect, Schedule } from "effect"
import { HostFault, LockHeld } from "../faults.ts"
import { Git } from "./Git.ts"
import { text } from "./runGit.ts"

/** A git at work ends sooner than this; one that waits for its user does not. */
const usualPatience: Duration.Input = "12 seconds"

/** Those of this working tree, and of what all working trees of a repository share. */
const isInTheWay = (path: string, directory: string, common: string): boolean =>
  dirname(path) === directory || !["worktrees", "modules"].some((name) => path.startsWith(join(common, name, "/")))

const named = ({ holder, path }: GitLock) =>
  new LockHeld({ path, ...(holder === undefined ? {} : { holder: `process ${holder.pid} (${holder.command})` }) })

const locksInTheWay = Effect.fnUntraced(function* (workTree: string) {
  const git = yield* Git
  const args = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"]
  const [directory = "", common = ""] = (yield* text(workTree, args)).split("\n")
  const workTrees = Effect.map(git.worktrees(workTree), (all) => all.map((one) => one.directory))
  const left = yield* putAsideLocks(common, workTrees).pipe(
    Effect.catchTag("UnknownError", (cause) =>
      Effect.fail(new HostFault({ operation: "looking for git's locks", cause }))
    )
  )
  return left.filter(({ path }) => isInTheWay(path, directory, common))
})

/**
 * Moves the locks of killed gits aside, and waits for those of gits at work. `write`: fails with `LockHeld` if one stays. `look`:
 * git only reads, so one that somebody holds is logged.
 */
export const settleLocks = Effect.fn("settleLocks")(function* (
  workTree: string,
  use: "look" | "write",
  patience: Duration.Input = usualPatience
) {
  const isDone = (left: ReadonlyArray<GitLock>) => left.every(({ holder }) => use === "look" && holder !== undefined)
  const look = locksInTheWay(workTree)
  const left = yield* Effect.repeat(look, { until: isDone, schedule: Schedule.spaced("500 millis") }).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => look })
  )
  const [held] = left
  if (held === undefined) return
  if (use === "write") return yield* named(held)
  yield* Effect.logWarning(named(held).message)
})
