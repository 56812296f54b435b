/** What tests do to processes, and put where files are expected. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"

export { type ForgedEntry, forgedIndex, type IndexVersion, withChecksum } from "./testingForgedIndex.ts"
export { type HostileTree, hostileTrees } from "./testingHostileTrees.ts"
export { type OddFile, oddFiles } from "./testingOddFiles.ts"

/** A thread that has ended, too, does not run. */
const threadRuns = (directory: string): boolean => {
  try {
    return !/\) [tTXZ] /.test(readFileSync(`${directory}/stat`, "utf8"))
  } catch {
    return false
  }
}

const isStopped = (pid: number): boolean => {
  const threads = `/proc/${pid}/task`
  // Elsewhere than on Linux nobody can say.
  if (!existsSync(threads)) return true
  return !readdirSync(threads).some((thread) => threadRuns(`${threads}/${thread}`))
}

/**
 * Freezes a process; completes when none of its threads runs any more. On a busy machine this takes a moment after the
 * signal was sent. SIGCONT thaws it.
 */
export const freeze = (pid: number): Effect.Effect<void, Error> =>
  Effect.try({
    try: () => process.kill(pid, "SIGSTOP"),
    catch: (cause) => new Error(`process ${pid} cannot be frozen`, { cause })
  }).pipe(
    Effect.andThen(
      Effect.sync(() => isStopped(pid)).pipe(
        Effect.repeat({ until: (stopped) => stopped, schedule: Schedule.spaced("1 millis") })
      )
    ),
    Effect.asVoid
  )
