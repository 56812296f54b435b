import { Effect, Option, Schedule } from "effect"

/** Repeats a check until it finds something, where no event can be awaited. Only the test's own time limit ends it. */
export const waitUntil = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.repeat(Effect.map(look, Option.fromNullishOr), {
    until: Option.isSome,
    schedule: Schedule.spaced("20 millis")
  }).pipe(Effect.flatMap((found) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.never)))
