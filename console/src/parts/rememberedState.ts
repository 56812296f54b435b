/** How the reader has arranged a page, until it is loaded again: pages are drawn again at each address. */
import { useState } from "react"

export const makeRememberedState = <Value extends string>(first: Value) => {
  let kept = first
  return (): readonly [Value, (value: Value) => void] => {
    const [value, setValue] = useState<Value>(kept)
    const keep = (next: Value) => {
      kept = next
      setValue(next)
    }
    return [value, keep]
  }
}
