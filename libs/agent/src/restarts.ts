/**
 * How soon, and how often, the program of an agent is started again when it has ended: one policy for all of them, whether
 * it ended in its start or later.
 */
import { constants } from "node:os"
import { Effect } from "effect"
import { steadyMs } from "./steadyMs.ts"

/** Times are in milliseconds. */
export interface RestartLimits {
  /** Before the second restart; the first comes at once. Each further pause is twice as long. */
  readonly firstPauseMs: number
  /** No pause is longer, so that a program that can run again soon does. */
  readonly longestPauseMs: number
  /** Ends that make the next pause longer. */
  readonly calmMs: number
  /** A program that ends more often within `windowMs` is given up. */
  readonly mostEnds: number
  readonly windowMs: number
  /** A program that has not answered for so long, in spite of its restarts, is given up. */
  readonly longestDownMs: number
}

export const defaultRestarts: RestartLimits = {
  firstPauseMs: 250,
  longestPauseMs: 4_000,
  calmMs: 60_000,
  mostEnds: 20,
  windowMs: 3 * 60_000,
  longestDownMs: 3 * 60_000
}

/** The ends so far. Times of a steady clock. */
export interface RestartHistory {
  /** Those within the window, oldest first. */
  readonly ends: ReadonlyArray<number>
  /** The first end since the program last answered. */
  readonly downSince?: number
}

export const noEnds: RestartHistory = { ends: [] }

/** What is done about an end. `withinMs`: since the first of the ends that are counted. */
export type AfterEnd =
  | { readonly _tag: "restart"; readonly pauseMs: number; readonly history: RestartHistory }
  | { readonly _tag: "give-up"; readonly ends: number; readonly withinMs: number }

/** `answered`: whether the program has answered between this end and the one before. Pure. */
export const afterEnd = (
  before: RestartHistory,
  { answered, now }: { readonly answered: boolean; readonly now: number },
  { calmMs, firstPauseMs, longestDownMs, longestPauseMs, mostEnds, windowMs }: RestartLimits = defaultRestarts
): AfterEnd => {
  const ends = [...before.ends.filter((at) => now - at < windowMs), now]
  const downSince = answered ? now : (before.downSince ?? now)
  if (ends.length > mostEnds || now - downSince >= longestDownMs) {
    return { _tag: "give-up", ends: ends.length, withinMs: now - Math.min(downSince, ends[0] ?? now) }
  }
  const recent = ends.filter((at) => now - at < calmMs).length
  const pauseMs = recent <= 1 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (recent - 2))
  return { _tag: "restart", pauseMs, history: { ends, downSince } }
}

const signalOf = (code: number): string | undefined =>
  Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0]

/** Signals by which somebody ends a program that works: nothing is wrong with it. A crash has others. */
const endingSignals: ReadonlyArray<string | undefined> = ["SIGKILL", "SIGTERM"]

/** Whether somebody else ended the program, by its exit code: 128 and the number of a signal that ended it. */
export const wasKilled = (code: number): boolean => endingSignals.includes(signalOf(code))

/** Text for humans: how a program ended, by its exit code. */
export const endingText = (code: number): string => {
  const signal = signalOf(code)
  if (signal === undefined) return `it ended with ${code}`
  return signal === "SIGKILL"
    ? "it was killed (SIGKILL): by somebody, or by the system, for lack of memory"
    : `a signal ended it (${signal})`
}

/** Text for humans: how often a program has ended. */
export const endsText = ({
  ends,
  withinMs
}: Pick<Extract<AfterEnd, { _tag: "give-up" }>, "ends" | "withinMs">): string =>
  `ended ${ends} times within ${Math.max(1, Math.round(withinMs / 1000))} s`

/**
 * Starts a program, and again as long as somebody ends it before it answers. Fails with `gaveUp` where the policy has an
 * end, and at once with every other failure.
 */
export const startingAgain = <A, E, R>(
  start: Effect.Effect<A, E, R>,
  isKilled: (error: E) => boolean,
  gaveUp: (error: E, ends: string) => E,
  limits: RestartLimits = defaultRestarts
): Effect.Effect<A, E, R> => {
  const attempt = (history: RestartHistory): Effect.Effect<A, E, R> =>
    Effect.catch(start, (error) =>
      isKilled(error)
        ? Effect.flatMap(steadyMs, (now) => {
            const next = afterEnd(history, { answered: false, now }, limits)
            return next._tag === "give-up"
              ? Effect.fail(gaveUp(error, endsText(next)))
              : Effect.delay(attempt(next.history), `${next.pauseMs} millis`)
          })
        : Effect.fail(error)
    )
  return attempt(noEnds)
}
