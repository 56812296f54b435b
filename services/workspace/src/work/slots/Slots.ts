/**
 * The slots of this host (docs/operations.md#hosts-and-their-slots). A run takes one from the moment at which the host takes
 * it until its workspace is released: while it works, waits for an answer or is paused, because its files and its sessions
 * are here. Work that is addressed to the host is done without regard to them.
 */
import { ActorConfig, Messenger, type PullLimit } from "@reprise/actor"
import type { HostSlots, Key, RunId } from "@reprise/protocol"
import { Effect, Schedule, SubscriptionRef } from "effect"
import { Leases } from "../leases/Leases.ts"
import { ended, freeSlots, isHere, looked, nothingAtWork, taken, usedSlots } from "./AtWork.ts"

/** Time between two looks at the leases; after one that failed, the shorter one. */
const lookEvery = "15 seconds"
const lookAgainAfter = "1 second"

export interface Slots {
  readonly pullLimit: PullLimit
  /** As they are now, while runs are being prepared here. */
  readonly slots: (preparing: ReadonlySet<Key>) => HostSlots
}

/** The runs of this host's leases whose files are here, as their actors say. */
const look = Effect.fnUntraced(function* () {
  const { show } = yield* Messenger
  const { host } = yield* ActorConfig
  const leases = yield* Leases
  const held = yield* leases.runs
  const here = yield* Effect.forEach(
    held,
    (runId) =>
      show.workspace(runId).pipe(
        Effect.map((view) => (isHere(view, host) ? [runId] : [])),
        Effect.catchIf(
          ({ code }) => code === "not-found",
          () => Effect.succeed([])
        )
      ),
    { concurrency: 8 }
  )
  return new Set<RunId>(here.flat())
})

/**
 * Counts the runs of this host until the scope closes. Until the leases have been looked at, the host has no room: it does
 * not know yet which runs it has.
 */
export const slotsOf = Effect.fnUntraced(function* (limit: number) {
  const leases = yield* Leases
  const atWork = yield* SubscriptionRef.make(nothingAtWork)
  let isKnown = false
  let changes = 0
  yield* leases.listen(({ held, runId }) => {
    changes += 1
    return SubscriptionRef.update(atWork, (now) => (held ? taken(now, runId) : ended(now, runId)))
  })
  const lookOnce = Effect.gen(function* () {
    const before = changes
    const found = yield* look()
    // What was taken or given back meanwhile may be missing in what was found.
    if (changes !== before) return false
    isKnown = true
    yield* SubscriptionRef.update(atWork, (now) => looked(now, found))
    return true
  }).pipe(
    Effect.catch(({ message }) => Effect.as(Effect.logInfo(`the runs of this host are not known: ${message}`), false))
  )
  yield* lookOnce.pipe(
    Effect.repeat({ until: (isDone) => isDone, schedule: Schedule.spaced(lookAgainAfter) }),
    Effect.repeat(Schedule.spaced(lookEvery)),
    Effect.forkScoped
  )
  const now = () => SubscriptionRef.getUnsafe(atWork)
  return {
    pullLimit: {
      available: (preparing) => (isKnown ? freeSlots(limit, now(), preparing) : 0),
      changes: SubscriptionRef.changes(atWork)
    },
    slots: (preparing) => ({ used: usedSlots(now(), preparing), all: limit })
  } satisfies Slots
})
