import { Effect, Option, Schedule } from "effect"

/** Repeats a check until it finds something, where no event can be awaited. Only the test's own time limit ends it. */
export const waitUntil = <A, E, R>(
  look: Effect.Effect<A | undefined, E, R>,
  pause: "20 millis" | "500 millis" = "20 millis"
): Effect.Effect<A, E, R> =>
  Effect.repeat(Effect.map(look, Option.fromNullishOr), {
    until: Option.isSome,
    schedule: Schedule.spaced(pause)
  }).pipe(Effect.flatMap((found) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.never)))

/** The same for a check that runs a command: without a pause it would keep a processor busy. */
export const waitForCommand = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  waitUntil(look, "500 millis")
