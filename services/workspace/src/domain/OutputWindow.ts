/** The beginning and the end of an output of any length. Pure; takes as much memory as twice the window. */

export interface OutputWindow {
  readonly sizeBytes: number
  readonly head: Uint8Array
  readonly tail: Uint8Array
}

const nothing = new Uint8Array(0)

export const emptyWindow = (sizeBytes: number): OutputWindow => ({ sizeBytes, head: nothing, tail: nothing })

const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** Copies what it keeps: a slice of the chunk would hold all of it in memory. */
export const addOutput = (window: OutputWindow, chunk: Uint8Array): OutputWindow => {
  const missing = window.sizeBytes - window.head.length
  const head = missing > 0 ? joined(window.head, chunk.subarray(0, missing)) : window.head
  const rest = chunk.subarray(Math.max(0, missing))
  if (rest.length === 0) return { ...window, head }
  const tail = joined(window.tail, rest.subarray(-window.sizeBytes)).slice(-window.sizeBytes)
  return { ...window, head, tail }
}

/** A window may cut a character in two: its halves are left out. */
const text = (bytes: Uint8Array, cut: { readonly start: boolean; readonly end: boolean }): string => {
  const decoded = new TextDecoder().decode(bytes)
  const started = cut.start ? decoded.replace(/^\uFFFD{1,3}/, "") : decoded
  return cut.end ? started.replace(/\uFFFD$/, "") : started
}

/** What lies between head and tail is left out. An output shorter than two windows is whole: `head + tail`. */
export const windowText = (window: OutputWindow): { readonly head: string; readonly tail: string } => {
  const { head, sizeBytes, tail } = window
  if (tail.length < sizeBytes) {
    const whole = new TextDecoder().decode(joined(head, tail))
    const start = text(head, { start: false, end: tail.length > 0 })
    return { head: start, tail: whole.slice(start.length) }
  }
  return { head: text(head, { start: false, end: true }), tail: text(tail, { start: true, end: false }) }
}
