/** How the time of a reader grows with the length of what it reads. */
import { type Pump, textOf } from "./pump.ts"

export interface Growth {
  /** Milliseconds of processor time for the longer text, the best of several tries. */
  readonly ms: number
  /** 1: linear; 2: quadratic. Times too short to tell count as linear. */
  readonly exponent: number
}

/** Processor time of this thread, so that a busy machine does not look like a slow reader. */
const processorMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

const best = (tries: number, read: (text: string) => unknown, text: string): number => {
  let least = Number.POSITIVE_INFINITY
  for (let left = tries; left > 0; left--) {
    const began = processorMs()
    read(text)
    least = Math.min(least, processorMs() - began)
  }
  return least
}

const factor = 8
/** Below this, the clock and the garbage collector say more than the reader. */
const leastMs = 2

/** Reads a text of `length` characters, and one of an eighth of it. */
export const growthOf = (read: (text: string) => unknown, pump: Pump, length: number, tries = 2): Growth => {
  const short = Math.max(leastMs, best(tries, read, textOf(pump, length / factor)))
  const ms = best(tries, read, textOf(pump, length))
  return { ms, exponent: Math.max(1, Math.log(Math.max(short, ms) / short) / Math.log(factor)) }
}
