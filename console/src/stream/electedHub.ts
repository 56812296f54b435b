/**
 * The hub in one of the pages, which holds a lock while it has it. A page that is looked at takes the lock from one that
 * is not, because browsers stop pages that nobody sees.
 */
import { makeHub } from "./Hub.ts"
import type { FromHub, Hearing, Page, ToHub, WayToHub } from "./messages.ts"

const name = "reprise-hub"

type Letter =
  | { readonly to: "hub"; readonly from: string; readonly message: ToHub }
  | { readonly to: "page"; readonly page: string; readonly message: FromHub }
  /** A hub has begun. */
  | { readonly to: "everybody" }

/** Serves every page, this one too, until the signal. */
const serveHub = (signal: AbortSignal): void => {
  const channel = new BroadcastChannel(name)
  const post = (letter: Letter) => channel.postMessage(letter)
  const hub = makeHub()
  const pages = new Map<string, Page>()
  channel.addEventListener("message", ({ data }: MessageEvent<Letter>) => {
    if (data.to !== "hub") return
    const { from, message } = data
    const page = pages.get(from) ?? { send: (reply: FromHub) => post({ to: "page", page: from, message: reply }) }
    pages.set(from, page)
    hub.take(page, message)
    if (message.type === "leave") pages.delete(from)
  })
  signal.addEventListener("abort", () => {
    hub.close()
    channel.close()
  })
  post({ to: "everybody" })
}

export const electHub = ({ hear, onNewHub }: Hearing): WayToHub => {
  const id = crypto.randomUUID()
  const channel = new BroadcastChannel(name)
  const closing = new AbortController()
  let waiting = new AbortController()
  let hasIt = false

  channel.addEventListener("message", ({ data }: MessageEvent<Letter>) => {
    if (data.to === "everybody") onNewHub()
    else if (data.to === "page" && data.page === id) hear(data.message)
  })

  /** Holds the lock until the page closes, or another takes it. */
  const hold = async (options: LockOptions): Promise<void> => {
    const lost = new AbortController()
    try {
      await navigator.locks.request(name, options, () => {
        hasIt = true
        serveHub(AbortSignal.any([lost.signal, closing.signal]))
        return new Promise<void>((resolve) => closing.signal.addEventListener("abort", () => resolve()))
      })
    } catch {
      // Taken away, or no longer waited for.
    }
    lost.abort()
    if (options.signal?.aborted === true || closing.signal.aborted) return
    hasIt = false
    await hold({ signal: waiting.signal })
  }

  const lookedAt = () => {
    if (hasIt || document.visibilityState !== "visible") return
    waiting.abort()
    waiting = new AbortController()
    void hold({ steal: true })
  }

  document.addEventListener("visibilitychange", lookedAt)
  void hold(document.visibilityState === "visible" ? { steal: true } : { signal: waiting.signal })
  return {
    send: (message) => channel.postMessage({ to: "hub", from: id, message } satisfies Letter),
    close: () => {
      document.removeEventListener("visibilitychange", lookedAt)
      waiting.abort()
      closing.abort()
      channel.close()
    }
  }
}
