/**
 * Notices of the browser while the console is open in some tab and not looked at. The browser asks for its permission
 * only when the visitor presses the button.
 */
import type { ConsoleEvent } from "@reprise/protocol"
import { useState, useSyncExternalStore } from "react"
import { originText } from "../data/words.ts"
import { visible } from "./visible.ts"

const storageKey = "notices"
const longestText = 200
/** The stream begins a little in the past: what is older is no news. */
const freshMs = 60_000

const isPossible = (): boolean => "Notification" in globalThis
const isWanted = (): boolean => {
  try {
    return localStorage.getItem(storageKey) === "on"
  } catch {
    return false
  }
}
const isOn = (): boolean => isPossible() && isWanted() && Notification.permission === "granted"

const listeners = new Set<() => void>()
const want = (on: boolean): void => {
  localStorage.setItem(storageKey, on ? "on" : "off")
  for (const listener of listeners) listener()
}
const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export interface Notices {
  /** Takes an event of the stream. */
  readonly hear: (seen: ConsoleEvent) => void
}

/** `open`: leads to a question. */
export const makeNotices = (open: (id: string) => void): Notices => {
  const shown = new Map<string, Notification>()

  const show = (id: string, title: string, text: string) => {
    try {
      // The same question in several tabs is one notice.
      const notice = new Notification(title, { body: text, tag: id, icon: "/icon-192.png" })
      notice.onclick = () => {
        window.focus()
        open(id)
        notice.close()
      }
      shown.set(id, notice)
    } catch {
      // Telephones show notices only of pages with a background worker, which this is not.
    }
  }

  const close = (id: string) => {
    shown.get(id)?.close()
    shown.delete(id)
  }

  return {
    hear: ({ event, time }) => {
      if (event._tag === "EscalationRaised") {
        const isNews = Date.now() - Date.parse(time) < freshMs && !shown.has(event.escalationId)
        if (!isOn() || document.hasFocus() || !isNews) return
        show(event.escalationId, originText(event.origin), visible(event.reason.slice(0, longestText)))
      }
      if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") close(event.escalationId)
    }
  }
}

export function NotifyMe() {
  const isShown = useSyncExternalStore(subscribe, isOn)
  const [isDenied, setDenied] = useState(false)
  if (!isPossible()) return null
  const turnOn = async () => {
    const permission = await Notification.requestPermission()
    setDenied(permission === "denied")
    if (permission === "granted") want(true)
  }
  return (
    <>
      <button
        aria-pressed={isShown}
        className="min-h-11 underline"
        onClick={() => (isShown ? want(false) : void turnOn())}
        type="button"
      >
        {isShown ? "Notices are on" : "Show notices"}
      </button>
      {isDenied && (
        <span className="flex min-h-11 items-center" role="status">
          The browser does not allow them.
        </span>
      )}
    </>
  )
}
