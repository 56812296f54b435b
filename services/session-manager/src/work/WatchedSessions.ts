/** The sessions of this host as their public events tell: whose turn is open, and where somebody else is at work. */
import type { PublicEvent, RuntimeId, RuntimeName, SessionId } from "@reprise/protocol"
import { Struct } from "effect"

export interface Watched {
  readonly key: SessionId
  readonly runtimeSessionId: RuntimeId
  readonly runtime: RuntimeName
  /** Our turn is open: all activity belongs to it. */
  inTurn: boolean
  /** Somebody else prompted the agent during our turn, and may still be at it when the turn ends. */
  othersInTurn: boolean
}

/** One look-up of a session, from the question to its answer. */
export interface LookUp {
  readonly key: SessionId
  /** An event of the session came since the question: the answer may be older than the event. */
  isOutdated: boolean
}

/** The events that the watch follows, and what each means to it. */
const meanings = {
  SessionCreated: "look-up",
  SessionReplaced: "look-up",
  SessionReused: "look-up-if-new",
  TurnStarted: "turn-begins",
  TurnCompleted: "turn-ends",
  TurnFailed: "turn-ends",
  AgentWorking: "agent-works",
  SessionExpired: "session-ends",
  SessionCompleted: "session-ends",
  SessionAborted: "session-ends",
  SessionFailed: "session-ends"
} as const satisfies Partial<Record<PublicEvent["_tag"], string>>

export type FollowedEvent = Extract<PublicEvent, { readonly _tag: keyof typeof meanings }>

export const followedTypes: ReadonlyArray<PublicEvent["_tag"]> = Struct.keys(meanings)

export const isFollowed = (event: PublicEvent): event is FollowedEvent => event._tag in meanings

/** With this event our own turn takes over, or the session ends: what others did in it before is over. */
export const endsWorkOfOthers = ({ _tag }: FollowedEvent): boolean =>
  _tag === "SessionReplaced" || meanings[_tag] === "turn-begins" || meanings[_tag] === "session-ends"

/** The session's actor believes that a human works in it, or the agent by itself. */
export const isWorkOfOthers = (event: FollowedEvent): boolean => event._tag === "AgentWorking" && event.cause !== "turn"

export class WatchedSessions {
  readonly #byRuntimeId = new Map<string, Watched>()
  readonly #byKey = new Map<string, Watched>()
  /** When somebody else's work was last seen in a session, by the runtime's id. */
  readonly #busySinceMs = new Map<string, number>()

  /** The look-ups that wait for an answer. */
  readonly #lookUps = new Set<LookUp>()

  find = (key: string): Watched | undefined => this.#byKey.get(key)

  get = (runtimeSessionId: RuntimeId): Watched | undefined => this.#byRuntimeId.get(runtimeSessionId)

  beginLookUp = (key: SessionId): LookUp => {
    const lookUp: LookUp = { key, isOutdated: false }
    this.#lookUps.add(lookUp)
    return lookUp
  }

  endLookUp = (lookUp: LookUp): void => {
    this.#lookUps.delete(lookUp)
  }

  /** Adds a session as a look-up found it. False: not added, since the answer is outdated. */
  add = (session: Watched, lookUp: LookUp): boolean => {
    if (lookUp.isOutdated) return false
    const before = this.#byKey.get(session.key)
    if (before !== undefined) this.#byRuntimeId.delete(before.runtimeSessionId)
    this.#byKey.set(session.key, session)
    this.#byRuntimeId.set(session.runtimeSessionId, session)
    return true
  }

  /** Notes an event; true when the session has to be looked up, because it is new here. */
  note = (event: FollowedEvent): boolean => {
    for (const lookUp of this.#lookUps) if (lookUp.key === event.sessionId) lookUp.isOutdated = true
    const known = this.#byKey.get(event.sessionId)
    switch (meanings[event._tag]) {
      case "look-up":
        return true
      case "look-up-if-new":
        return known === undefined
      case "agent-works":
        return false
      case "turn-begins":
        if (known !== undefined) known.inTurn = true
        return false
      case "turn-ends":
        // Whoever created it may have been killed before its view was stored, so that no list had it.
        if (known === undefined) return true
        known.inTurn = false
        return false
      case "session-ends":
        this.#byKey.delete(event.sessionId)
        if (known !== undefined) this.#byRuntimeId.delete(known.runtimeSessionId)
        return false
    }
  }

  busySinceMs = (runtimeSessionId: RuntimeId): number | undefined => this.#busySinceMs.get(runtimeSessionId)

  isBusy = (runtimeSessionId: RuntimeId): boolean => this.#busySinceMs.has(runtimeSessionId)

  /** The sessions in which somebody else is at work. */
  atWork = (): ReadonlyArray<SessionId> =>
    [...this.#byKey.values()].flatMap(({ key, runtimeSessionId }) => (this.isBusy(runtimeSessionId) ? [key] : []))

  markBusy = (runtimeSessionId: RuntimeId, nowMs: number): void => {
    this.#busySinceMs.set(runtimeSessionId, nowMs)
  }

  markIdle = (runtimeSessionId: RuntimeId): void => {
    this.#busySinceMs.delete(runtimeSessionId)
  }
}
