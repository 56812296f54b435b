import { Effect, Option, Schedule } from "effect"

/** Repeats a look until it finds something, for what no event announces. The limit of the test is the only limit. */
export const waitUntil = <A, E, R>(look: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.repeat(Effect.map(look, Option.fromNullishOr), {
    until: Option.isSome,
    schedule: Schedule.spaced("20 millis")
  }).pipe(Effect.flatMap((found) => (Option.isSome(found) ? Effect.succeed(found.value) : Effect.never)))
