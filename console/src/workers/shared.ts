/** The hub as a shared worker: one for all pages of a browser. */
import { makeHub } from "../stream/Hub.ts"
import type { Page } from "../stream/messages.ts"

declare const self: SharedWorkerGlobalScope

const hub = makeHub()

self.addEventListener("connect", ({ ports: [port] }) => {
  if (port === undefined) return
  const page: Page = { send: (message) => port.postMessage(message) }
  port.addEventListener("message", ({ data }) => hub.take(page, data))
  // Where browsers say so: a page that crashed leaves, too.
  port.addEventListener("close", () => hub.take(page, { type: "leave" }))
  port.start()
})
