/** This page's part of the browser's hub: it joins with the first listener, and leaves with the last or the page. */
import { sessionHeaders } from "../data/session.ts"
import type { FromHub, WayToHub } from "./messages.ts"
import { openHub } from "./openHub.ts"

type Listener = (message: FromHub) => void

const listeners = new Set<Listener>()
/** The runs whose agents are followed, and by how many parts of the page. */
const followed = new Map<string, number>()
let way: WayToHub | undefined
/** The last event of this page; a stream that begins again counts from 0. */
let after = 0

const sendFollowed = () => way?.send({ type: "watch", runs: [...followed.keys()] })

const join = () => {
  way?.send({ type: "join", after, headers: sessionHeaders() })
  if (followed.size > 0) sendFollowed()
}

const hear = (message: FromHub): void => {
  if (message.type === "connected" && !message.resumed) after = 0
  if (message.type === "event") {
    // What comes twice, as when another page has become the hub, is left out.
    if (message.sequence <= after) return
    after = message.sequence
  }
  for (const listener of listeners) listener(message)
}

/** Hears the hub until the function that it returns is called. Each event comes once, in order. */
export const listen = (listener: Listener): (() => void) => {
  listeners.add(listener)
  if (way === undefined) {
    way = openHub({ hear, onNewHub: join })
    join()
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    way?.send({ type: "leave" })
    way?.close()
    way = undefined
    after = 0
  }
}

/** Follows what the agents of a run say, until the function that it returns is called. */
export const follow = (runId: string): (() => void) => {
  followed.set(runId, (followed.get(runId) ?? 0) + 1)
  sendFollowed()
  return () => {
    const others = (followed.get(runId) ?? 1) - 1
    if (others > 0) followed.set(runId, others)
    else followed.delete(runId)
    sendFollowed()
  }
}

addEventListener("pagehide", () => way?.send({ type: "leave" }))
// Browsers keep a page for the way back.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) join()
})
