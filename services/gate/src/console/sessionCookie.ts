/**
 * The cookie that stands for a signed-in browser: when it ends, a random part, and a signature made with the token. So
 * sessions outlive the process, and a new token ends them all.
 */
import type { Sign } from "../notify/answerLink.ts"

const daysMs = 24 * 60 * 60_000
export const sessionMs = 7 * daysMs

/** Browsers send a cookie to every port of a machine, so each console needs a name of its own. */
export const cookieName = (port: number): string => `reprise-${port}`

export const issueSession = (nonce: string, nowMs: number, sign: Sign): string => {
  const claim = `${nowMs + sessionMs}.${nonce}`
  return `${claim}.${sign(claim)}`
}

/** Whoever sends more has made them up; each costs a look at its signature. */
const mostCookies = 4

/** The first values of cookies of a name, as they came. Another page of this host can add one, which must not hide ours. */
export const cookiesNamed = (name: string, header: string | undefined): ReadonlyArray<string> =>
  (header ?? "")
    .split(";")
    .flatMap((one) => {
      const [key, ...value] = one.split("=")
      return key?.trim() === name ? [value.join("=").trim()] : []
    })
    .slice(0, mostCookies)

/** The session, if the cookie was issued with this token and has not ended. `isSame` compares in constant time. */
export const sessionIn = (
  cookie: string,
  nowMs: number,
  sign: Sign,
  isSame: (a: string, b: string) => boolean
): string | undefined => {
  const match = /^((\d{1,16})\.[0-9a-f-]{1,64})\.(.{1,128})$/.exec(cookie)
  if (match === null) return undefined
  const [, claim = "", ends = "", signature = ""] = match
  const isInTime = Number(ends) > nowMs && Number(ends) <= nowMs + sessionMs
  return isInTime && isSame(sign(claim), signature) ? claim : undefined
}

/** Nobody signs out more often in a week. */
const mostEnded = 10_000

/** When a session ends, in milliseconds. */
const endOf = (session: string): number => Number(session.slice(0, session.indexOf(".")))

export interface Sessions {
  /** Whether a session counts, and remembers it: another one that is older may count no more then. */
  readonly counts: (session: string) => boolean
  /** From now on it counts no more, whoever has its cookie. */
  readonly end: (session: string) => void
}

/**
 * The sessions of one token, of which the newest count. Kept in memory, so a new process knows the ones that it has seen, and
 * none that was ended.
 */
export const makeSessions = (most: number): Sessions => {
  const known = new Set<string>()
  const ended = new Set<string>()
  return {
    counts: (session) => {
      if (ended.has(session)) return false
      if (known.has(session)) return true
      if (known.size >= most) {
        const oldest = [...known].reduce((a, b) => (endOf(b) < endOf(a) ? b : a))
        if (endOf(session) < endOf(oldest)) return false
        known.delete(oldest)
      }
      known.add(session)
      return true
    },
    end: (session) => {
      known.delete(session)
      ended.add(session)
      const [first] = ended
      if (ended.size > mostEnded && first !== undefined) ended.delete(first)
    }
  }
}
