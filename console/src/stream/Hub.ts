/**
 * Holds the connections of a browser, whose pages share them: HTTP/1.1 allows six, so a connection for each page would
 * leave the seventh without an answer. One brings the events of all runs, and one, while anybody looks, what the agents
 * of the runs that are looked at say.
 */
import { type EventHistory, historyAfter, missingAfter, newestOf, withEvent } from "./EventHistory.ts"
import { makeLiveConnection } from "./liveConnection.ts"
import type { Connection, Page, ToHub } from "./messages.ts"

export interface Hub {
  readonly take: (page: Page, message: ToHub) => void
  /** Ends everything. */
  readonly close: () => void
}

const retryMs = 2_000
/** The service says every 15 seconds that it is there. */
const longestSilenceMs = 40_000
const lookEveryMs = 5_000

/** Whether somebody is signed in; undefined: nobody answers. */
const isSignedIn = (): Promise<boolean | undefined> =>
  fetch("/api/session", { signal: AbortSignal.timeout(longestSilenceMs) }).then(
    ({ ok, status }) => (ok ? true : status === 401 ? false : undefined),
    () => undefined
  )

export const makeHub = (): Hub => {
  /** The last event that each page has. */
  const pages = new Map<Page, number>()
  const live = makeLiveConnection()
  let history: EventHistory = historyAfter(undefined)
  let connection: Connection = "connecting"
  let source: EventSource | undefined
  let heardAtMs = 0
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
    source?.close()
    source = undefined
    clearTimeout(again)
  }

  /** `after`: the event after which it goes on; 0: it begins anew. */
  const begin = (after: number) => {
    stop()
    heardAtMs = Date.now()
    const opened = new EventSource(after === 0 ? "/api/events" : `/api/events?after=${after}`)
    source = opened
    opened.addEventListener("connected", ({ data }) => {
      heardAtMs = Date.now()
      const { resumed }: { readonly resumed: boolean } = JSON.parse(data)
      if (!resumed) history = historyAfter(undefined)
      else if (newestOf(history) === 0) history = historyAfter(after)
      tell("live")
      for (const [page, last] of pages) bringUpToDate(page, last)
    })
    opened.addEventListener("alive", () => {
      heardAtMs = Date.now()
    })
    opened.addEventListener("event", ({ data, lastEventId }) => {
      heardAtMs = Date.now()
      take(Number(lastEventId), data)
    })
    opened.addEventListener("error", () => {
      tell("lost")
      // The browser connects again by itself, unless it was refused.
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(checkSession, retryMs)
    })
  }

  const signOut = () => {
    stop()
    live.close()
    history = historyAfter(undefined)
    tell("signed-out")
  }

  const checkSession = async () => {
    const opened = source
    const isIn = await isSignedIn()
    if (opened !== source || opened === undefined) return
    if (isIn === false) return signOut()
    if (isIn) begin(newestOf(history))
    else again = setTimeout(checkSession, retryMs)
  }

  /** A connection may end without a word, as when a computer slept or changed its network, and begin without one. */
  const look = setInterval(() => {
    const waits = source !== undefined && source.readyState !== EventSource.CLOSED
    if (waits && Date.now() - heardAtMs > longestSilenceMs) {
      tell("lost")
      begin(newestOf(history))
    }
  }, lookEveryMs)

  const join = (page: Page, after: number) => {
    pages.set(page, after)
    if (source === undefined) {
      connection = "connecting"
      history = historyAfter(undefined)
      begin(after)
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
          return join(page, message.after)
        case "watch":
          return live.watch(page, message.runs)
        case "leave":
          return leave(page)
        case "sign-out":
          return signOut()
      }
    },
    close: () => {
      stop()
      live.close()
      clearInterval(look)
      pages.clear()
    }
  }
}
