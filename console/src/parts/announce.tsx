/** What those who hear the page are told of what happens on it, when the reader has finished a sentence. */
import { useSyncExternalStore } from "react"

interface Said {
  readonly text: string
  /** Said again, the same text is another one: it is read again. */
  readonly n: number
}

let said: Said = { text: "", n: 0 }
const listeners = new Set<() => void>()

export const announce = (text: string): void => {
  said = { text, n: said.n + 1 }
  for (const listener of listeners) listener()
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

export function Announcer() {
  const { n, text } = useSyncExternalStore(subscribe, () => said)
  return (
    <div aria-live="polite" className="sr-only" data-announcer="">
      <p key={n}>{text}</p>
    </div>
  )
}
