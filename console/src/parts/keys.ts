/** Keys of a page. They do nothing while somebody types, and while a dialog has the page. */
import { useEffect, useRef } from "react"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Elements that use Enter and the arrows themselves, or scroll by them. */
const hasOwnKeys = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("a, button, summary, [role=tab], [tabindex='0']") !== null

const ownKeys = new Set(["Enter", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"])

/** `handle` returns whether it has used the key. */
export const useKeys = (handle: (key: string) => boolean): void => {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { altKey, ctrlKey, defaultPrevented, key, metaKey, repeat, target } = event
      if (defaultPrevented || ctrlKey || metaKey || altKey || repeat || isTyping(target)) return
      if (ownKeys.has(key) && hasOwnKeys(target)) return
      if (document.querySelector("dialog[open]") !== null) return
      if (latest.current(key)) event.preventDefault()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}
