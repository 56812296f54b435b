/** Chance from a seed: the same seed draws the same numbers. */
export interface Random {
  /** From 0 up to, not including, 1. */
  readonly next: () => number
  /** A whole number from 0 up to, not including, `end`. */
  readonly below: (end: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(first: A, ...others: ReadonlyArray<A>) => A
}

const mixed = (value: number): number => {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/** A number from 0 to 2³² - 1 for a seed and a text, however often it is asked for. */
export const hashOf = (seed: number, text: string): number => {
  let hash = mixed(seed ^ 0x9e3779b9)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0
  return mixed(hash)
}

/** mulberry32. */
export const randomOf = (seed: number): Random => {
  let state = mixed(seed)
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    const once = Math.imul(state ^ (state >>> 15), 1 | state)
    const twice = (once + Math.imul(once ^ (once >>> 7), 61 | once)) ^ once
    return ((twice ^ (twice >>> 14)) >>> 0) / 4294967296
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (first, ...others) => {
      const at = below(others.length + 1)
      return at === 0 ? first : (others[at - 1] ?? first)
    }
  }
}
