/** Which connections of the console end when there are too many (docs/console.md#limits). Pure. */

/** A connection, as far as it decides whether it may stay. */
export interface Connected {
  /** Who sent the last request on it; before the first one, all of the address. */
  readonly client: string
  /** Whether that client had signed in. */
  readonly isSignedIn: boolean
  /** An answer is being made or sent; one that waits for its turn, or for its refusal, is not. */
  readonly isUnderWay: boolean
  /** Its place among the uses of all connections: the highest is the last one. */
  readonly usedAt: number
}

/** How many there may be. Each kind has its own, so that one keeps nobody of the other out. */
export interface Room {
  readonly signedIn: number
  readonly signedOut: number
}

const byClient = <C extends Connected>(connected: ReadonlyArray<C>) =>
  [...Map.groupBy(connected, ({ client }) => client).values()].map((own) => ({
    count: own.length,
    /** The least recently used one is the last. */
    free: own.filter(({ isUnderWay }) => !isUnderWay).toSorted((a, b) => b.usedAt - a.usedAt)
  }))

const endingOf = <C extends Connected>(connected: ReadonlyArray<C>, room: number): ReadonlyArray<C> => {
  if (connected.length <= room) return []
  const clients = byClient(connected)
  const ending: Array<C> = []
  while (connected.length - ending.length > room) {
    const largest = clients.reduce<(typeof clients)[number] | undefined>(
      (most, one) => (one.free.length > 0 && one.count > (most?.count ?? 0) ? one : most),
      undefined
    )
    const next = largest?.free.pop()
    if (largest === undefined || next === undefined) break
    largest.count -= 1
    ending.push(next)
  }
  return ending
}

/**
 * The connections that have to end. Whoever has the most gives way: the one that was used least recently, and never one
 * with an answer under way, of which each client has few.
 */
export const surplus = <C extends Connected>(connected: Iterable<C>, room: Room): ReadonlyArray<C> => {
  const all = [...connected]
  return [
    ...endingOf(
      all.filter(({ isSignedIn }) => isSignedIn),
      room.signedIn
    ),
    ...endingOf(
      all.filter(({ isSignedIn }) => !isSignedIn),
      room.signedOut
    )
  ]
}
