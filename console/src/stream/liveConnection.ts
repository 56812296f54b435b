/** The one connection by which a browser's pages hear what the agents of the runs say that are looked at. */
import { openStream } from "./eventStream.ts"
import type { Page, RequestHeaders } from "./messages.ts"

export interface LiveConnection {
  /** The runs that a page follows, in place of those before. */
  readonly watch: (page: Page, runs: ReadonlyArray<string>) => void
  readonly close: () => void
}

interface Opened {
  readonly close: () => void
  readonly runs: ReadonlyArray<string>
}

const retryMs = 1_000

const pathFor = (runs: ReadonlyArray<string>): string =>
  `/api/live?${new URLSearchParams(runs.map((run) => ["run", run]))}`

/** @param headers say who has signed in, now */
export const makeLiveConnection = (headers: () => RequestHeaders): LiveConnection => {
  const watching = new Map<Page, ReadonlyArray<string>>()
  /** Heard now. */
  let heard: Opened | undefined
  /** Takes the place of the other as soon as it hears, so that nothing is lost on the way. */
  let next: Opened | undefined
  let again: ReturnType<typeof setTimeout> | undefined

  const wanted = (): ReadonlyArray<string> => [...new Set([...watching.values()].flat())].toSorted()

  const tellListening = (page: Page) => {
    if (heard !== undefined) page.send({ type: "listening", runs: heard.runs })
  }

  const stop = () => {
    clearTimeout(again)
    heard?.close()
    next?.close()
    heard = undefined
    next = undefined
  }

  const open = (runs: ReadonlyArray<string>) => {
    clearTimeout(again)
    next?.close()
    const opened: Opened = {
      runs,
      close: openStream(pathFor(runs), headers(), {
        onMessage: ({ data, event }) => {
          if (event === "listening") {
            if (opened === next) {
              heard?.close()
              heard = opened
              next = undefined
            }
            for (const page of watching.keys()) tellListening(page)
          }
          if (event !== "live" || opened !== heard) return
          for (const page of watching.keys()) page.send({ type: "live", data })
        },
        onEnd: () => {
          if (opened !== heard && opened !== next) return
          clearTimeout(again)
          again = setTimeout(() => open(wanted()), retryMs)
        }
      })
    }
    next = opened
  }

  return {
    watch: (page, runs) => {
      if (runs.length === 0) watching.delete(page)
      else watching.set(page, runs)
      const all = wanted()
      const isOpen = ((next ?? heard)?.runs ?? []).join() === all.join()
      if (all.length === 0) stop()
      else if (!isOpen) open(all)
      else if (watching.has(page)) tellListening(page)
    },
    close: () => {
      watching.clear()
      stop()
    }
  }
}
