/**
 * Keeps the memory of a process that waits for agents and humans small. V8 keeps the memory of a burst of work for the
 * next one, but a host may wait for days.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"

/** Measured with fifty sessions (`npm run bench fifty-sessions`): half the memory for a tenth more processor time. */
export const limitHeap = Effect.sync(() => setFlagsFromString("--optimize-for-size"))

type Collect = (options: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void

const isCollector = (found: unknown): found is Collect => typeof found === "function"

const collector = (): Collect | undefined => {
  setFlagsFromString("--expose-gc")
  const found: unknown = runInNewContext("gc")
  return isCollector(found) ? found : undefined
}

/** Stops the process for about a tenth of a second, so it is only for when nothing happens. */
const releaseMemory = Effect.sync(() => collector()?.({ type: "major", execution: "sync", flavor: "last-resort" }))

const quietMs = 10_000

/** A process that works for so much of the time is not quiet, whatever it does: it may answer queries. */
const busyMs = 2_000

/** Counts the calls before which the process was busy since the call before. */
const countBusy = () => {
  let count = 0
  let used = process.cpuUsage()
  return () => {
    const { system, user } = process.cpuUsage(used)
    used = process.cpuUsage()
    if ((system + user) / 1000 >= busyMs) count++
    return count
  }
}

/** Releases memory once after each burst of activity. `activity` counts what has happened so far. */
export const releaseWhenQuiet = (activity: () => number): Effect.Effect<never> => {
  let releasedAt = -1
  let previous = -1
  const busy = countBusy()
  return Effect.suspend(() => {
    const now = activity() + busy()
    const isQuiet = now === previous && now !== releasedAt
    previous = now
    if (!isQuiet) return Effect.void
    releasedAt = now
    return releaseMemory
  }).pipe(Effect.delay(quietMs), Effect.forever)
}
