/** Places that clients take, such as for answers under way: who finds none waits, and whoever came first goes first. */
import { Effect } from "effect"

export interface Place {
  /** Once it is taken. */
  readonly taken: Effect.Effect<void>
  readonly isTaken: () => boolean
  /** Gives it back, or stops waiting for it. Again it does nothing. */
  readonly leave: () => void
}

interface Waiting {
  isTaken: boolean
  hasLeft: boolean
  onTaken: () => void
}

/** `most`: of each name. */
export const makePlaces = (most: number) => {
  const byName = new Map<string, Array<Waiting>>()

  /** Whoever stands among the first has a place. */
  const fill = (all: ReadonlyArray<Waiting>) => {
    for (const one of all.slice(0, most)) {
      if (one.isTaken) continue
      one.isTaken = true
      one.onTaken()
    }
  }

  /** Comes for a place. Whoever comes must leave. */
  return (name: string): Place => {
    const all = byName.get(name) ?? []
    byName.set(name, all)
    const own: Waiting = { isTaken: false, hasLeft: false, onTaken: () => undefined }
    all.push(own)
    fill(all)
    return {
      isTaken: () => own.isTaken,
      taken: Effect.callback<void>((resume) => {
        own.onTaken = () => resume(Effect.void)
        if (own.isTaken) own.onTaken()
      }),
      leave: () => {
        if (own.hasLeft) return
        own.hasLeft = true
        all.splice(all.indexOf(own), 1)
        if (all.length === 0) byName.delete(name)
        fill(all)
      }
    }
  }
}
