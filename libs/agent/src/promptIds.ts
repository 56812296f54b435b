/**
 * The ids of a prompt. They are chosen before the first try and sent with every try, so that the runtime recognizes a
 * repeated prompt as the same one. Pure, so deciders can use it.
 */

/** `msg_…` and `prt_…` in the format of OpenCode: 12 hexadecimal digits of time, then 14 letters or digits. */
export interface PromptIds {
  readonly messageId: string
  readonly partId: string
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const timeBits = 48n
/** How many ids share a millisecond before the counter runs into the next one. */
const idsPerMs = 4096n

/** Mixes every bit of a 32-bit number into all others. */
const mixed = (value: number): number => {
  const once = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return (twice ^ (twice >>> 15)) >>> 0
}

/** A 32-bit hash of a text; each lane is an independent hash. */
const hashed = (text: string, lane: number): number => {
  let hash = mixed(0x811c9dc5 ^ Math.imul(lane + 1, 0x9e3779b1))
  for (let i = 0; i < text.length; i++) hash = mixed(Math.imul(hash ^ text.charCodeAt(i), 0x01000193) + lane)
  return hash
}

/** 14 letters or digits: 83 of the 96 bits of three lanes. */
const suffix = (text: string): string => {
  let bits = [0, 1, 2].reduce((all, lane) => (all << 32n) | BigInt(hashed(text, lane)), 0n)
  let letters = ""
  while (letters.length < 14) {
    letters += alphabet.charAt(Number(bits % 62n))
    bits /= 62n
  }
  return letters
}

/**
 * The ids of the n-th prompt of a turn.
 * @param timeMs when it is decided, in epoch milliseconds: later prompts have greater ids
 * @param seed what the prompt belongs to, such as a turn's id: ids are global, so no two seeds may be the same
 * @param n 0 for the work prompt, 1 for the report prompt, …
 */
export const promptIds = (timeMs: number, seed: string, n: number): PromptIds => {
  const time = BigInt.asUintN(Number(timeBits), BigInt(Math.trunc(timeMs)) * idsPerMs + BigInt(n))
  const id = `${time.toString(16).padStart(12, "0")}${suffix(`${n} ${timeMs} ${seed}`)}`
  return { messageId: `msg_${id}`, partId: `prt_${id}` }
}
