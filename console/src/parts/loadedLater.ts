/** Parts of the page that are loaded when they are needed. */
import { type ComponentType, lazy } from "react"

/** Whether Reprise answers at all. */
const isReached = (): Promise<boolean> =>
  fetch("/api/session").then(
    () => true,
    () => false
  )

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/**
 * A part that is asked for while the connection is lost is asked for again until it is back. One that is not there, since
 * Reprise is of another version by now, fails.
 */
export const loadUntilReached = async <A>(
  load: () => Promise<A>,
  isReachedNow: () => Promise<boolean> = isReached,
  everyMs = 2_000
): Promise<A> => {
  for (let reached = false; ; ) {
    try {
      return await load()
    } catch (error) {
      if (reached) throw error
      reached = await isReachedNow()
      if (!reached) await wait(everyMs)
    }
  }
}

export const loadedLater = <Props>(load: () => Promise<{ readonly default: ComponentType<Props> }>) =>
  lazy(() => loadUntilReached(load))
