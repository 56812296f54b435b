/** Whether the broker can store more. A full one refuses every write, so everything waits until there is space again. */
import { health, type Nats } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import { missing } from "../terminal/CliFailure.ts"

/** Less than the largest message that is stored outside of the object store. */
const leastFreeBytes = 64 * 1024

/** Fails with exit code 3, naming the full streams. */
export const requireQuota = (prefix: string) =>
  Effect.gen(function* () {
    const { streams } = yield* health({ prefix })
    const full = streams.filter(({ bytes, maxBytes }) => maxBytes > 0 && maxBytes - bytes < leastFreeBytes)
    if (full.length === 0) return
    return yield* missing(
      "quota",
      `The broker has no space left: ${full.map(({ bytes, maxBytes, name }) => `${name} holds ${bytes} of ${maxBytes} bytes`).join(", ")}.`,
      "No data is lost. Raise nats.storeMaxBytes (REPRISE_NATS_STORE_MAX_BYTES) or free space, then run the command again."
    )
  })

/** Never succeeds; fails when the broker is full. A broker that does not answer does not count as full. */
export const untilFull = (prefix: string): Effect.Effect<never, unknown, Nats> =>
  requireQuota(prefix).pipe(
    Effect.catchIf(
      (error) => error._tag !== "CliFailure",
      () => Effect.void
    ),
    Effect.repeat(Schedule.spaced("5 seconds")),
    Effect.andThen(Effect.never)
  )
