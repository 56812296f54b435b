/** Whether the broker can store more. A full one refuses every write, so everything waits until there is space again. */
import type { BrokerFull } from "@reprise/actor"
import { type DiskFull, health, type Nats, requireRoom } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import { type CliFailure, missing } from "../../terminal/CliFailure.ts"

/** Less than the largest message that is stored outside of the object store. */
const leastFreeBytes = 64 * 1024

/** Where messages are stored: the streams of a prefix and, if this machine keeps them, the folder. */
export interface Store {
  readonly prefix: string
  readonly directory?: string
}

const diskFull = (error: DiskFull) =>
  missing("disk-full", error.message, "Then run the command again: it continues where it stopped.", error)

/** Fails with exit code 3, naming the disk or the streams that are full. */
export const requireQuota = ({ directory, prefix }: Store) =>
  Effect.gen(function* () {
    if (directory !== undefined) yield* requireRoom(directory).pipe(Effect.catchTag("DiskFull", diskFull))
    const { streams } = yield* health({ prefix })
    const full = streams.filter(({ bytes, maxBytes }) => maxBytes > 0 && maxBytes - bytes < leastFreeBytes)
    if (full.length === 0) return
    return yield* missing(
      "quota",
      `The broker has no space left: ${full.map(({ bytes, maxBytes, name }) => `${name} holds ${bytes} of ${maxBytes} bytes`).join(", ")}.`,
      "No data is lost. Raise nats.storeMaxBytes (REPRISE_NATS_STORE_MAX_BYTES) or free space, then run the command again."
    )
  })

/** The same, as far as the broker answers: one that does not answer does not count as full. */
export const nameWhatIsFull = (store: Store): Effect.Effect<void, CliFailure, Nats> =>
  requireQuota(store).pipe(
    Effect.catchIf(
      (error) => error._tag !== "CliFailure",
      () => Effect.void
    )
  )

/** Never succeeds; fails when the broker or its disk is full. */
export const untilFull = (store: Store): Effect.Effect<never, CliFailure, Nats> =>
  nameWhatIsFull(store).pipe(Effect.repeat(Schedule.spaced("5 seconds")), Effect.andThen(Effect.never))

/**
 * A message could not be stored, and nothing is full any more. The server may go on refusing after its disk was full, so
 * nothing waits for it.
 */
export const wasFull = (error: BrokerFull) =>
  missing(
    "broker-full",
    `The broker had no space left: ${error.reason}.`,
    "No data is lost. Free space on its disk or raise its quota, then run the command again.",
    error
  )
