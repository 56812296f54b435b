/** One after the other for each workspace: what an agent made in one, which takes long to look at, keeps no other waiting. */
import { type Effect, Semaphore } from "effect"

export const makeTurns = () => {
  const turnstiles = new Map<string, Semaphore.Semaphore>()
  return (workspace: string): (<A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) => {
    const turnstile = turnstiles.get(workspace) ?? Semaphore.makeUnsafe(1)
    turnstiles.set(workspace, turnstile)
    return turnstile.withPermits(1)
  }
}
