/**
 * What stands for whoever has signed in with a token: when the session ends, a random part, and a signature made with the
 * token. So sessions outlive the process, and a new token ends them all. It comes in a header of its own and in no cookie:
 * browsers send those to every port of a machine (docs/console.md#who-gets-in).
 */
import type { Sign } from "../notify/answerLink.ts"

const daysMs = 24 * 60 * 60_000
export const sessionMs = 7 * daysMs

/** What is signed says what for: other ports have seen cookies of earlier versions, which were signatures of the claim alone. */
const signed = (claim: string): string => `session ${claim}`

export const issueSession = (nonce: string, nowMs: number, sign: Sign): string => {
  const claim = `${nowMs + sessionMs}.${nonce}`
  return `${claim}.${sign(signed(claim))}`
}

/** The claim of a session, if it was issued with this token and has not ended. `isSame` compares in constant time. */
export const claimIn = (
  session: string,
  nowMs: number,
  sign: Sign,
  isSame: (a: string, b: string) => boolean
): string | undefined => {
  const match = /^((\d{1,16})\.[0-9a-f-]{1,64})\.(.{1,128})$/.exec(session)
  if (match === null) return undefined
  const [, claim = "", ends = "", signature = ""] = match
  const isInTime = Number(ends) > nowMs && Number(ends) <= nowMs + sessionMs
  return isInTime && isSame(sign(signed(claim)), signature) ? claim : undefined
}

/** When a session ends, in milliseconds. */
export const endOf = (claim: string): number => Number(claim.slice(0, claim.indexOf(".")))

/** Nobody signs out more often in a week. */
const mostEnded = 10_000

export interface Sessions {
  /** Whether a session counts, and remembers it: another one that is older may count no more then. */
  readonly counts: (claim: string) => boolean
  /** From now on it counts no more, whoever has it. */
  readonly end: (claim: string) => void
  /** Calls the listener once, when a session has ended or made room for another, now if it has; returns how to stop that. */
  readonly onEnd: (claim: string, listener: () => void) => () => void
}

/**
 * The sessions of one token, of which the newest count. Kept in memory, so a new process knows the ones that it has seen, and
 * none that was ended.
 */
export const makeSessions = (most: number): Sessions => {
  /** With those who want to know of its end. */
  const known = new Map<string, Set<() => void>>()
  const ended = new Set<string>()
  const forget = (claim: string) => {
    const listeners = known.get(claim) ?? []
    known.delete(claim)
    for (const listener of listeners) listener()
  }
  return {
    counts: (claim) => {
      if (ended.has(claim)) return false
      if (known.has(claim)) return true
      if (known.size >= most) {
        const oldest = [...known.keys()].reduce((a, b) => (endOf(b) < endOf(a) ? b : a))
        if (endOf(claim) < endOf(oldest)) return false
        forget(oldest)
      }
      known.set(claim, new Set())
      return true
    },
    end: (claim) => {
      forget(claim)
      ended.add(claim)
      const [first] = ended
      if (ended.size > mostEnded && first !== undefined) ended.delete(first)
    },
    onEnd: (claim, listener) => {
      const listeners = known.get(claim)
      if (listeners === undefined) listener()
      else listeners.add(listener)
      return () => known.get(claim)?.delete(listener)
    }
  }
}
