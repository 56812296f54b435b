/** The time for texts such as "3 min ago": every page that shows one is drawn again now and then. */
import { useEffect, useState } from "react"

export const useNow = (everyMs = 15_000): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
