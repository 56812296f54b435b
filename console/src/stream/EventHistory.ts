/** The newest events of a browser's one stream, for a page that comes later or was away for a moment. Pure. */

export interface HeardEvent {
  readonly sequence: number
  readonly data: string
  readonly heardAtMs: number
}

export interface EventHistory {
  /** Every event after this one is in `events`; undefined: the stream has begun again, and brought none yet. */
  readonly floor: number | undefined
  /** Oldest first. */
  readonly events: ReadonlyArray<HeardEvent>
}

const keptEvents = 500
/** Lists may lag behind the events by a moment, so a page that has none yet is given those of the last seconds. */
const lookBackMs = 5_000

/** A stream that goes on after an event; undefined: it begins again. */
export const historyAfter = (sequence: number | undefined): EventHistory => ({ floor: sequence, events: [] })

export const newestOf = ({ events, floor }: EventHistory): number => events.at(-1)?.sequence ?? floor ?? 0

/** Gives the same history for an event that it has already. */
export const withEvent = (history: EventHistory, event: HeardEvent): EventHistory => {
  if (event.sequence <= newestOf(history)) return history
  const events = [...history.events, event]
  const surplus = events.slice(0, -keptEvents)
  return { floor: surplus.at(-1)?.sequence ?? history.floor ?? event.sequence - 1, events: events.slice(-keptEvents) }
}

export interface Missing {
  readonly resumed: boolean
  readonly events: ReadonlyArray<HeardEvent>
}

/** What a page gets whose last event is this one; 0: it has none. */
export const missingAfter = (history: EventHistory, after: number, nowMs: number): Missing => {
  const { events, floor } = history
  const resumed = after > 0 && floor !== undefined && after >= floor && after <= newestOf(history)
  return {
    resumed,
    events: resumed
      ? events.filter(({ sequence }) => sequence > after)
      : events.filter(({ heardAtMs }) => heardAtMs >= nowMs - lookBackMs)
  }
}
