/** What a page tells the service worker that shows notices: whether they are wanted, and of which questions. */
import type { ConsoleEvent } from "@reprise/protocol"
import { originText } from "../data/format.ts"
import { visible } from "../parts/visible.ts"
import type { ToNotices } from "./Notice.ts"

const storageKey = "notices"
const longestText = 200

export const arePossible = (): boolean => "Notification" in globalThis && "serviceWorker" in navigator

const areOn = (): boolean => {
  try {
    return localStorage.getItem(storageKey) === "on"
  } catch {
    return false
  }
}
export const areWanted = (): boolean => arePossible() && areOn() && Notification.permission === "granted"

const listeners = new Set<() => void>()
export const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

const tell = (message: ToNotices): void => {
  if (!arePossible()) return
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage(message))
}

/** Nobody is to see any longer what was asked. */
export const withdrawAll = (): void => tell({ type: "open", ids: [], asOfMs: Number.MAX_SAFE_INTEGER })

export const want = (on: boolean): void => {
  localStorage.setItem(storageKey, on ? "on" : "off")
  if (!on) withdrawAll()
  for (const listener of listeners) listener()
}

/** Questions that were raised and may have been changed since: each is told once. */
const told = new Set<string>()

/** Takes an event of the stream, which begins at most a few seconds in the past. */
export const noteEvent = ({ event }: ConsoleEvent): void => {
  if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") {
    tell({ type: "closed", id: event.escalationId })
  }
  if (event._tag !== "EscalationRaised" || told.has(event.escalationId)) return
  told.add(event.escalationId)
  if (!areWanted()) return
  const text = visible(event.reason.slice(0, longestText))
  tell({ type: "raised", question: { id: event.escalationId, title: originText(event.origin), text } })
}

/** Takes the list of all open questions, as it was read at that time. */
export const noteOpen = (ids: ReadonlyArray<string>, asOfMs: number): void => tell({ type: "open", ids, asOfMs })

let started: Promise<ServiceWorkerRegistration | undefined> | undefined

/** Starts the service worker. Undefined where the browser has none, or refuses it: then there are no notices. */
export const startNotices = (): Promise<ServiceWorkerRegistration | undefined> => {
  if (!arePossible()) return Promise.resolve(undefined)
  started ??= navigator.serviceWorker.register("/service-worker.js").catch(() => undefined)
  return started
}

/** `open`: leads to a page of the console. Returns a function that stops it. */
export const followClicks = (open: (path: string) => void): (() => void) => {
  if (!arePossible()) return () => undefined
  const hear = ({ data }: MessageEvent<{ readonly type: string; readonly path: string }>) => {
    if (data.type === "lead") open(data.path)
  }
  navigator.serviceWorker.addEventListener("message", hear)
  navigator.serviceWorker.startMessages()
  return () => navigator.serviceWorker.removeEventListener("message", hear)
}
