import { Clock, Effect } from "effect"

/** Milliseconds from a clock that nobody sets, for durations. Its zero is anywhere. */
export const steadyMs: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)
