/**
 * Holds the connections of a browser, whose pages share them: HTTP/1.1 allows six, so a connection for each page would
 * leave the seventh without an answer. One brings the events of all runs, and one, while anybody looks, what the agents
 * of the runs that are looked at say.
 */
import { type EventHistory, historyAfter, missingAfter, newestOf, withEvent } from "./EventHistory.ts"
import { openStream, type StreamMessage } from "./eventStream.ts"
import { makeLiveConnection } from "./liveConnection.ts"
import type { Connection, Page, RequestHeaders, ToHub } from "./messages.ts"

export interface Hub {
  readonly take: (page: Page, message: ToHub) => void
  /** Ends everything. */
  readonly close: () => void
}

const retryMs = 1_000

export const makeHub = (): Hub => {
  /** The last event that each page has. */
  const pages = new Map<Page, number>()
  /** Say who has signed in, by the page that came last. */
  let headers: RequestHeaders = {}
  const live = makeLiveConnection(() => headers)
  let history: EventHistory = historyAfter(undefined)
  let connection: Connection = "connecting"
  /** Undefined: no stream is wanted. */
  let closeStream: (() => void) | undefined
  let again: ReturnType<typeof setTimeout> | undefined

  const tell = (now: Connection) => {
    connection = now
    for (const page of pages.keys()) page.send({ type: "connection", connection })
  }

  const bringUpToDate = (page: Page, after: number) => {
    const { events, resumed } = missingAfter(history, after, Date.now())
    page.send({ type: "connected", resumed })
    for (const { data, sequence } of events) page.send({ type: "event", sequence, data })
    pages.set(page, newestOf(history))
  }

  const take = (sequence: number, data: string) => {
    const before = history
    history = withEvent(before, { sequence, data, heardAtMs: Date.now() })
    if (history === before) return
    for (const page of pages.keys()) {
      page.send({ type: "event", sequence, data })
      pages.set(page, sequence)
    }
  }

  const stop = () => {
    closeStream?.()
    closeStream = undefined
    clearTimeout(again)
  }

  const signOut = () => {
    stop()
    live.close()
    history = historyAfter(undefined)
    tell("signed-out")
  }

  const hear = ({ data, event, id }: StreamMessage) => {
    if (event === "event") take(Number(id), data)
    if (event !== "connected") return
    const { resumed }: { readonly resumed: boolean } = JSON.parse(data)
    if (!resumed) history = historyAfter(undefined)
    tell("live")
    for (const [page, last] of pages) bringUpToDate(page, last)
  }

  /** Reconnects, and asks for what came after the last event. */
  const begin = () => {
    stop()
    const after = newestOf(history)
    const sent = headers
    closeStream = openStream(after === 0 ? "/api/events" : `/api/events?after=${after}`, sent, {
      onMessage: hear,
      onEnd: (refusal) => {
        // Signing out in one page ends the streams of all. This page may have signed in again meanwhile.
        if (refusal === 401 && sent === headers) return signOut()
        tell("lost")
        again = setTimeout(begin, retryMs)
      }
    })
  }

  const join = (page: Page, after: number, signedIn: RequestHeaders) => {
    pages.set(page, after)
    const isAnother = JSON.stringify(signedIn) !== JSON.stringify(headers)
    headers = signedIn
    if (closeStream === undefined) {
      connection = "connecting"
      history = historyAfter(after === 0 ? undefined : after)
      begin()
    } else if (isAnother) {
      // The stream is to end with the session that the pages have now.
      begin()
    }
    page.send({ type: "connection", connection })
    if (connection === "live") bringUpToDate(page, after)
  }

  const leave = (page: Page) => {
    pages.delete(page)
    live.watch(page, [])
    if (pages.size === 0) stop()
  }

  return {
    take: (page, message) => {
      switch (message.type) {
        case "join":
          return join(page, message.after, message.headers)
        case "watch":
          return live.watch(page, message.runs)
        case "leave":
          return leave(page)
      }
    },
    close: () => {
      stop()
      live.close()
      pages.clear()
    }
  }
}
