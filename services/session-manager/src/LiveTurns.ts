/**
 * The prompts that this process has under way, and the ids of those it had: whose activity is whose, and whom an abort
 * has to stop.
 */
import { Clock, Context, Deferred, Effect, Layer, type Scope } from "effect"

export interface LiveTurn {
  /** Our id of the session. */
  readonly key: string
  readonly runtimeSessionId: string
  readonly messageId: string
}

interface Entry extends LiveTurn {
  readonly interrupted: Deferred.Deferred<void>
  readonly left: Deferred.Deferred<void>
}

/** Enough for the turns of a day on one host. */
const kept = 10_000

const forgetOldest = (of: Set<string> | Map<string, unknown>) => {
  for (const oldest of of.keys()) {
    if (of.size <= kept) return
    of.delete(oldest)
  }
}

const make = Effect.sync(() => {
  const live = new Set<Entry>()
  const ours = new Set<string>()
  const lastEndedAt = new Map<string, number>()

  const remember = (messageId: string) => {
    ours.delete(messageId)
    ours.add(messageId)
    forgetOldest(ours)
  }

  const used = (runtimeSessionId: string, atMs: number) => {
    lastEndedAt.delete(runtimeSessionId)
    lastEndedAt.set(runtimeSessionId, atMs)
    forgetOldest(lastEndedAt)
  }

  const enter = (turn: LiveTurn): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      const left = yield* Deferred.make<void>()
      const entry: Entry = { ...turn, interrupted, left }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          remember(turn.messageId)
          live.add(entry)
        }),
        () =>
          Effect.gen(function* () {
            live.delete(entry)
            used(turn.runtimeSessionId, yield* Clock.currentTimeMillis)
            yield* Deferred.succeed(left, undefined)
          })
      )
      return Deferred.await(interrupted)
    })

  const interrupt = (key: string) =>
    Effect.forEach(
      [...live].filter((entry) => entry.key === key),
      (entry) => Deferred.succeed(entry.interrupted, undefined).pipe(Effect.andThen(Deferred.await(entry.left))),
      { discard: true }
    )

  return LiveTurns.of({
    enter,
    interrupt,
    remember: (messageId, runtimeSessionId, usedMs) =>
      Effect.sync(() => {
        remember(messageId)
        if (!lastEndedAt.has(runtimeSessionId)) used(runtimeSessionId, usedMs)
      }),
    isOurs: (messageId) => ours.has(messageId),
    isLive: (runtimeSessionId) => [...live].some((entry) => entry.runtimeSessionId === runtimeSessionId),
    lastEndedAt: (runtimeSessionId) => lastEndedAt.get(runtimeSessionId)
  })
})

export class LiveTurns extends Context.Service<
  LiveTurns,
  {
    /** Until the scope closes the prompt is under way. Gives an effect that ends when somebody wants it stopped. */
    readonly enter: (turn: LiveTurn) => Effect.Effect<Effect.Effect<void>, never, Scope.Scope>
    /** Stops every prompt of a session in this process, and waits until they have left. */
    readonly interrupt: (key: string) => Effect.Effect<void>
    /** The id that an earlier process prompted a session with, which it used last at that time (epoch milliseconds). */
    readonly remember: (messageId: string, runtimeSessionId: string, usedMs: number) => Effect.Effect<void>
    readonly isOurs: (messageId: string) => boolean
    readonly isLive: (runtimeSessionId: string) => boolean
    /** When the newest prompt of ours in this session ended, in epoch milliseconds. */
    readonly lastEndedAt: (runtimeSessionId: string) => number | undefined
  }
>()("session-manager/LiveTurns") {
  static readonly layer = Layer.effect(LiveTurns, make)
}
