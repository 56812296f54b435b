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

/** Of one token, in a file that is written at each sign-out. */
const mostEnded = 1_000

/** The sessions of one token that ended before their time, as they are kept. */
export interface EndedSessions {
  readonly claims: ReadonlyArray<string>
  /** All that would end by then have ended, in milliseconds. */
  readonly throughMs: number
}

export const noneEnded: EndedSessions = { claims: [], throughMs: 0 }

/** For when nobody knows which have ended: all that were issued before. */
export const allEnded = (nowMs: number): EndedSessions => ({ claims: [], throughMs: nowMs - 1 + sessionMs })

/** One more. Where there are too many, those that would end first are forgotten, and all others until then end, too. */
export const withEnded = ({ claims, throughMs }: EndedSessions, claim: string, most = mostEnded): EndedSessions => {
  const all = [...claims.filter((one) => one !== claim), claim]
  if (all.length <= most) return { claims: all, throughMs }
  const through = all.map(endOf).toSorted((a, b) => a - b)[all.length - most - 1] ?? 0
  return { claims: all.filter((one) => endOf(one) > through), throughMs: Math.max(throughMs, through) }
}

export interface Sessions {
  /** Whether a session counts, and remembers it: another one that is older ends then. */
  readonly counts: (claim: string) => boolean
  /** From now on it counts no more, whoever has it. */
  readonly end: (claim: string) => void
  /** Calls the listener once, when a session has ended or made room for another, now if it has; returns how to stop that. */
  readonly onEnd: (claim: string, listener: () => void) => () => void
  /** What has to be kept for the next process. The same object until another session has ended. */
  readonly ended: () => EndedSessions
}

/** The sessions of one token, of which the newest count. `before`: those that ended in earlier processes. */
export const makeSessions = (most: number, before: EndedSessions = noneEnded): Sessions => {
  /** With the listeners for its end. */
  const known = new Map<string, Set<() => void>>()
  let ended = before
  let claims = new Set(before.claims)
  const hasEnded = (claim: string) => endOf(claim) <= ended.throughMs || claims.has(claim)
  const end = (claim: string) => {
    if (!hasEnded(claim)) {
      ended = withEnded(ended, claim)
      claims = new Set(ended.claims)
    }
    const listeners = known.get(claim) ?? []
    known.delete(claim)
    for (const listener of listeners) listener()
  }
  return {
    counts: (claim) => {
      if (hasEnded(claim)) return false
      if (known.has(claim)) return true
      if (known.size >= most) {
        const oldest = [...known.keys()].reduce((a, b) => (endOf(b) < endOf(a) ? b : a))
        const isOlder = endOf(claim) < endOf(oldest)
        end(isOlder ? claim : oldest)
        if (isOlder) return false
      }
      known.set(claim, new Set())
      return true
    },
    end,
    onEnd: (claim, listener) => {
      const listeners = known.get(claim)
      if (listeners === undefined) listener()
      else listeners.add(listener)
      return () => known.get(claim)?.delete(listener)
    },
    ended: () => ended
  }
}
