/** Waits for what guards still have to end: they outlive a killed process by a moment. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"

const read = (file: string): string => {
  try {
    return readFileSync(file, "utf8")
  } catch {
    // It ended while it was looked at.
    return ""
  }
}

/** The processes whose arguments or environment name the folder; none where there is no /proc to tell. */
const usersOf = (folder: string): ReadonlyArray<string> =>
  (existsSync("/proc") ? readdirSync("/proc") : [])
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => `${read(`/proc/${pid}/cmdline`)}\0${read(`/proc/${pid}/environ`)}`.includes(folder))

/**
 * Returns when no process uses the folder, which may then be removed: nobody writes to it any more. Dies when one does
 * after half a minute, as nothing may outlive its owner for so long.
 */
export const untilDeserted = (folder: string): Effect.Effect<void> =>
  Effect.sync(() => usersOf(folder)).pipe(
    Effect.repeat({ until: (users) => users.length === 0, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () =>
        Effect.die(
          new Error(
            `still there: ${usersOf(folder)
              .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`)
              .join(", ")}`
          )
        )
    }),
    Effect.asVoid
  )
