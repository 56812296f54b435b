/** What is done about a lock of git's before git is asked to do something (docs/design/workspace.md#workspace). */
import type { GitLock } from "@reprise/process"
import { type Duration, Effect, Schedule } from "effect"
import { LockHeld } from "../faults.ts"
import { Git } from "./Git.ts"

/** A git at work ends sooner than this; one that waits for its user does not. */
const usualPatience: Duration.Input = "12 seconds"

const named = ({ holder, path }: GitLock) =>
  new LockHeld({ path, ...(holder === undefined ? {} : { holder: `process ${holder.pid} (${holder.command})` }) })

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
  const look = (yield* Git).putAsideLocks(workTree)
  const left = yield* Effect.repeat(look, { until: isDone, schedule: Schedule.spaced("500 millis") }).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => look })
  )
  const [held] = left
  if (held === undefined) return
  if (use === "write") return yield* named(held)
  yield* Effect.logWarning(named(held).message)
})
