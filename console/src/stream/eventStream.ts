/** A stream of server-sent events by `fetch`: the browser's own `EventSource` sends no headers. */
import { type Event, makeParser } from "effect/encoding/Sse"
import type { RequestHeaders } from "./messages.ts"

/** One of a stream: its type, its text, and its id or that of the last one before. */
export type StreamMessage = Pick<Event, "data" | "event" | "id">

export interface Reader {
  readonly onMessage: (message: StreamMessage) => void
  /** Called once, unless `close` came first. `refusal`: the status of the answer; undefined: no answer, or the stream ended. */
  readonly onEnd: (refusal: number | undefined) => void
}

/** The service says every 15 seconds that it is there. */
const longestSilenceMs = 40_000
const lookEveryMs = 5_000

/** A proxy may answer with a page of its own. */
const isStream = ({ headers, ok }: Response): boolean =>
  ok && headers.get("content-type")?.startsWith("text/event-stream") === true

/** Opens a stream and returns how to close it. It does not reconnect: that is up to the caller. */
export const openStream = (path: string, headers: RequestHeaders, { onEnd, onMessage }: Reader): (() => void) => {
  const closing = new AbortController()
  const { signal } = closing
  let heardAtMs = Date.now()

  const close = () => {
    clearInterval(look)
    closing.abort()
  }
  const end = (refusal: number | undefined) => {
    if (signal.aborted) return
    close()
    onEnd(refusal)
  }
  /** A connection may end without a word, as when a computer slept or changed its network. */
  const look = setInterval(() => {
    if (Date.now() - heardAtMs > longestSilenceMs) end(undefined)
  }, lookEveryMs)

  const parser = makeParser((message) => {
    if (message._tag === "Event" && !signal.aborted) onMessage(message)
  })
  const read = async (): Promise<number | undefined> => {
    const accept = "text/event-stream"
    const response = await fetch(path, { headers: { ...headers, accept }, cache: "no-store", signal })
    if (!isStream(response) || response.body === null) return response.ok ? undefined : response.status
    // Not every browser reads a stream by `for await`.
    const texts = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await texts.read()
      if (done || parser.feed(value) !== undefined) return undefined
      heardAtMs = Date.now()
    }
  }
  read().then(end, () => end(undefined))
  return close
}
