/** The way to the hub: a shared worker; where there is none, as on Android, the page that was looked at last. */
import { electHub } from "./electedHub.ts"
import { makeHub } from "./Hub.ts"
import type { Hearing, Page, WayToHub } from "./messages.ts"

const sharedHub = ({ hear }: Hearing): WayToHub => {
  const { port } = new SharedWorker(new URL("../workers/shared.ts", import.meta.url), { type: "module" })
  port.addEventListener("message", ({ data }) => hear(data))
  port.start()
  return { send: (message) => port.postMessage(message), close: () => port.close() }
}

/** Without locks, which browsers give to HTTPS and this machine only, every page has its own. */
const ownHub = ({ hear }: Hearing): WayToHub => {
  const hub = makeHub()
  const page: Page = { send: hear }
  return { send: (message) => hub.take(page, message), close: hub.close }
}

export const openHub = (hearing: Hearing): WayToHub => {
  if ("SharedWorker" in globalThis) return sharedHub(hearing)
  return "locks" in navigator && "BroadcastChannel" in globalThis ? electHub(hearing) : ownHub(hearing)
}
