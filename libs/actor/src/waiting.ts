/** What a service that waits says in its log. */
import { Clock, Effect } from "effect"

const repeatedAfterMs = 60_000

/** Warns of why it waits: at once, when the reason is another, and again every minute, however often it is tried. */
export const warningOfWait = () => {
  let said: { readonly reason: string; readonly atMs: number } | undefined
  return ({ message: reason }: { readonly message: string }): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (atMs) => {
      if (said?.reason === reason && atMs - said.atMs < repeatedAfterMs) return Effect.void
      said = { reason, atMs }
      return Effect.logWarning(reason)
    })
}
