/** The sessions of this host as their public events tell: which runtime session is whose, and whether a turn is open. */
import type { PublicEvent } from "@reprise/protocol"

export interface Watched {
  readonly key: string
  readonly runtimeSessionId: string
  readonly directory: string
  /** A turn of ours is open: whatever happens is that turn's. */
  inTurn: boolean
}

const ends = new Set<PublicEvent["_tag"]>(["SessionExpired", "SessionCompleted", "SessionAborted", "SessionFailed"])
/** Whatever was seen of somebody else's work in the session before, is over with this. */
export const endsForeignWork = ({ _tag }: PublicEvent): boolean =>
  _tag === "TurnStarted" || _tag === "SessionReplaced" || ends.has(_tag)

const turnEnds = new Set<PublicEvent["_tag"]>(["TurnCompleted", "TurnFailed"])

export class WatchedSessions {
  readonly #byRuntimeId = new Map<string, Watched>()
  readonly #byKey = new Map<string, Watched>()

  find = (key: string): Watched | undefined => this.#byKey.get(key)

  get = (runtimeSessionId: string): Watched | undefined => this.#byRuntimeId.get(runtimeSessionId)

  add = (session: Watched): void => {
    const before = this.#byKey.get(session.key)
    if (before !== undefined) this.#byRuntimeId.delete(before.runtimeSessionId)
    this.#byKey.set(session.key, session)
    this.#byRuntimeId.set(session.runtimeSessionId, session)
  }

  #forget = (session: Watched): void => {
    this.#byKey.delete(session.key)
    this.#byRuntimeId.delete(session.runtimeSessionId)
  }

  /** Takes note of an event; true when the session has to be looked up, because it is new here. */
  note = (event: PublicEvent): boolean => {
    if (event.sessionId === undefined) return false
    const known = this.#byKey.get(event.sessionId)
    if (event._tag === "SessionCreated" || event._tag === "SessionReplaced") return true
    if (event._tag === "SessionReused") return known === undefined
    if (known === undefined) return false
    if (ends.has(event._tag)) this.#forget(known)
    else if (event._tag === "TurnStarted") known.inTurn = true
    else if (turnEnds.has(event._tag)) known.inTurn = false
    return false
  }
}
