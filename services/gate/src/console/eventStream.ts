/** The stream of server-sent events: where it starts, and how its messages are written. */

/** Where the event stream of a browser starts. */
export type StreamStart =
  | { readonly resumed: true; readonly from: { readonly sequence: number } }
  | { readonly resumed: false; readonly from: { readonly since: string } }

/** A reader that was away for longer starts again, which is less work than to catch up. */
const mostToCatchUp = 5_000
/** Lists of views may lag behind the events by a moment, so a new reader is given those of the last seconds. */
const lookBackMs = 5_000

/** The last event that a reader has seen, as it names it in the header `Last-Event-ID` or in the address. */
export const lastSeen = (header: string | undefined, after: string | undefined): string | undefined => header ?? after

/**
 * `lastEventId`: the sequence of the last event that the browser has seen. `lastSequence`: that of the newest event. An id
 * beyond it is of another stream.
 */
export const whereToStart = (lastEventId: string | undefined, lastSequence: number, nowMs: number): StreamStart => {
  const seen = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : undefined
  const isKnown = seen !== undefined && seen <= lastSequence && lastSequence - seen <= mostToCatchUp
  return isKnown
    ? { resumed: true, from: { sequence: seen + 1 } }
    : { resumed: false, from: { since: new Date(nowMs - lookBackMs).toISOString() } }
}

/** One message. JSON has no line breaks of its own, so the data is one line. */
export const streamMessage = (type: string, data: unknown, id?: number): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`

/** Milliseconds after which a browser connects again. */
export const retryLine = "retry: 1000\n"

/**
 * Keeps the connection open, and lets the server notice that the reader has gone, and the reader that the server has: a
 * network may end without a word. It has no id.
 */
export const heartbeat = streamMessage("alive", {})
