/** The beginning and the end of an output of any length, in memory of twice the window's size. */

export interface OutputWindow {
  readonly sizeBytes: number
  readonly totalBytes: number
  readonly head: Uint8Array
  /** What follows the head, or the last bytes of that. */
  readonly tail: Uint8Array
}

const nothing = new Uint8Array(0)

export const emptyWindow = (sizeBytes: number): OutputWindow => ({
  sizeBytes,
  totalBytes: 0,
  head: nothing,
  tail: nothing
})

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
  const totalBytes = window.totalBytes + chunk.length
  if (rest.length === 0) return { ...window, totalBytes, head }
  const tail = joined(window.tail, rest.subarray(-window.sizeBytes)).slice(-window.sizeBytes)
  return { ...window, totalBytes, head, tail }
}

/** A window may cut a character in two; half a character is left out. */
const text = (bytes: Uint8Array, cut: { readonly start: boolean; readonly end: boolean }): string => {
  const decoded = new TextDecoder().decode(bytes)
  const started = cut.start ? decoded.replace(/^\uFFFD{1,3}/, "") : decoded
  return cut.end ? started.replace(/\uFFFD$/, "") : started
}

/**
 * Fields of `GateResult`. `overlap`: characters at the start of `tail` that repeat the end of `head`; absent where
 * output is left out.
 */
export interface WindowText {
  readonly head: string
  readonly tail: string
  readonly overlap?: number
}

/** The first and the last bytes. For a short output, each of them is the whole output. */
export const windowText = ({ head, sizeBytes, tail, totalBytes }: OutputWindow): WindowText => {
  if (totalBytes > 2 * sizeBytes) {
    return { head: text(head, { start: false, end: true }), tail: text(tail, { start: true, end: false }) }
  }
  const bytes = joined(head, tail)
  const whole = new TextDecoder().decode(bytes)
  const beginning = text(head, { start: false, end: tail.length > 0 })
  const last = text(bytes.subarray(-sizeBytes), { start: bytes.length > sizeBytes, end: false })
  const following = whole.slice(beginning.length)
  return last.length < following.length
    ? { head: beginning, tail: following, overlap: 0 }
    : { head: beginning, tail: last, overlap: last.length - following.length }
}
