/** The requests that this process is doing, each with a signal that stops it. */
import { Deferred, Effect } from "effect"

export interface Running {
  /**
   * Does a request until it is done or cancelled. `work` gets the cancellation to wait for, and is registered before it
   * begins: a cancellation that comes while it starts finds it here.
   */
  readonly during: <A, E, R>(
    requestId: string,
    work: (cancellation: Effect.Effect<void>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
  /** Does nothing when the request is not running here. */
  readonly cancel: (requestId: string) => Effect.Effect<void>
}

export const makeRunning = (): Running => {
  const signals = new Map<string, Deferred.Deferred<void>>()
  return {
    during: (requestId, work) =>
      Effect.acquireUseRelease(
        Effect.tap(Deferred.make<void>(), (signal) => Effect.sync(() => signals.set(requestId, signal))),
        (signal) => work(Deferred.await(signal)),
        () => Effect.sync(() => signals.delete(requestId))
      ),
    cancel: (requestId) =>
      Effect.suspend(() => {
        const signal = signals.get(requestId)
        return signal === undefined ? Effect.void : Effect.asVoid(Deferred.succeed(signal, undefined))
      })
  }
}
