/** Waits for processes that guards end after their owner was killed. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    // The process ended meanwhile.
    return ""
  }
}

/** The processes whose arguments or environment name the folder. None on systems without /proc. */
export const usersOf = (folder: string): ReadonlyArray<string> =>
  (existsSync("/proc") ? readdirSync("/proc") : [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => `${read(`/proc/${pid}/cmdline`)}\0${read(`/proc/${pid}/environ`)}`.includes(folder))

/**
 * Returns when no process uses the folder, so that it can be removed. Dies if one still does after five minutes: no
 * process may outlive its owner.
 */
export const untilUnused = (folder: string): Effect.Effect<void> =>
  Effect.sync(() => usersOf(folder)).pipe(
    Effect.repeat({ until: (users) => users.length === 0, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOrElse({
      duration: "5 minutes",
      orElse: () =>
        Effect.die(
          new Error(
            `processes still use ${folder}: ${usersOf(folder)
              .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`)
              .join(", ")}`
          )
        )
    }),
    Effect.asVoid
  )
