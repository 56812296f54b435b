/**
 * Gives memory that is not needed any more back to the system. The engine keeps what a burst of work took for the next
 * one; a process that only waits for humans may wait for days.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"

type Collect = (options: { readonly type: "major"; readonly execution: "sync"; readonly flavor: "last-resort" }) => void

const isCollector = (found: unknown): found is Collect => typeof found === "function"

const collector = (): Collect | undefined => {
  setFlagsFromString("--expose-gc")
  const found: unknown = runInNewContext("gc")
  return isCollector(found) ? found : undefined
}

/** Stops everything for a tenth of a second or so: for when nothing is going on. */
const releaseMemory = Effect.sync(() => collector()?.({ type: "major", execution: "sync", flavor: "last-resort" }))

const quietMs = 10_000

/** Once after each time that something happened, when it has been quiet for a while. `seen`: how much has happened. */
export const releaseWhenQuiet = (seen: () => number): Effect.Effect<never> => {
  let released = -1
  let before = -1
  return Effect.suspend(() => {
    const now = seen()
    const quiet = now === before && now !== released
    before = now
    if (!quiet) return Effect.void
    released = now
    return releaseMemory
  }).pipe(Effect.delay(quietMs), Effect.forever)
}
