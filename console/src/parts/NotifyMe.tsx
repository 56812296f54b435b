/**
 * Notices of the browser while the console is open in some tab and not looked at. The browser asks for its permission
 * only when the visitor presses the button.
 */
import { useState, useSyncExternalStore } from "react"
import { arePossible, areWanted, subscribe, want } from "../notices/notices.ts"

export function NotifyMe() {
  const isShown = useSyncExternalStore(subscribe, areWanted)
  const [isDenied, setDenied] = useState(false)
  if (!arePossible()) return null
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
