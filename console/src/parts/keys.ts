/** Keys of a page. They do nothing while somebody types. */
import { useEffect, useRef } from "react"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** `handle` returns whether it has used the key. */
export const useKeys = (handle: (key: string) => boolean): void => {
  const latest = useRef(handle)
  latest.current = handle
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
      if (isTyping(event.target)) return
      if (latest.current(event.key)) event.preventDefault()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [])
}
