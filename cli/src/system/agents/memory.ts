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

const lookEveryMs = 10_000

/** A process that works for so much of the time between two looks is not quiet, whatever it does: it may answer queries. */
const busyMs = 2_000

/** A process in which something small happens all the time, such as reminders of many questions, stops so seldom. */
const releaseEveryMs = 10 * 60_000

export interface Look {
  /** What has happened so far, as a count. */
  readonly activity: number
  /** Processor time so far. */
  readonly cpuMs: number
  /** Milliseconds since any fixed moment. */
  readonly atMs: number
}

/** What is remembered from look to look. `isDirty`: something has happened since memory was released. */
export interface Watched {
  readonly last: Look
  readonly releasedMs: number
  readonly isDirty: boolean
}

export const watchFrom = (first: Look): Watched => ({ last: first, releasedMs: first.atMs, isDirty: true })

/** Memory is released once after each burst of activity; while little happens all the time, now and then. */
export const look = ({ isDirty, last, releasedMs }: Watched, now: Look): Watched & { readonly releases: boolean } => {
  const isBusy = now.cpuMs - last.cpuMs >= busyMs
  const isQuiet = now.activity === last.activity
  const isDue = isQuiet || now.atMs - releasedMs >= releaseEveryMs
  const changed = isDirty || isBusy || !isQuiet
  const releases = changed && !isBusy && isDue
  return { last: now, releasedMs: releases ? now.atMs : releasedMs, isDirty: changed && !releases, releases }
}

/** `activity` counts what has happened so far. */
export const releaseWhenQuiet = (activity: () => number): Effect.Effect<never> => {
  const lookNow = (): Look => {
    const { system, user } = process.cpuUsage()
    return { activity: activity(), cpuMs: (system + user) / 1000, atMs: performance.now() }
  }
  let watched = watchFrom(lookNow())
  return Effect.suspend(() => {
    const { releases, ...rest } = look(watched, lookNow())
    watched = rest
    return releases ? releaseMemory : Effect.void
  }).pipe(Effect.delay(lookEveryMs), Effect.forever)
}
