/**
 * The statuses of a session and what leads from one to another (docs/design/sessions.md#lifecycle). The documentation
 * is written from this table, and a test compares it with what `evolve` does.
 */
import type { SessionStatus } from "../session/state.ts"

type Status = Exclude<SessionStatus, "unknown">

export interface Transition {
  /** `start`: there is no session yet. */
  readonly from: ReadonlyArray<Status | "start">
  readonly to: ReadonlyArray<Status>
  readonly when: string
}

const live = ["requested", "created", "active", "paused"] as const
const opened = ["created", "active", "paused"] as const
const ended = ["expired", "completed", "aborted", "failed"] as const

export const transitions = {
  requested: { from: ["start"], to: ["requested"], when: "a turn in a new session is requested" },
  opened: {
    from: ["requested"],
    to: ["created"],
    when: "the runtime has opened it; its id is journalled before the first prompt"
  },
  working: {
    from: ["requested", "created", "paused"],
    to: ["active"],
    when: "the agent is seen working on our prompt or of a human, or by itself"
  },
  continued: { from: ["created", "paused"], to: ["active"], when: "another turn is requested in it" },
  idle: { from: ["created", "active"], to: ["paused"], when: "no turn was open for `sessions.idleAfterMs`" },
  expired: {
    from: live,
    to: ["expired"],
    when: "it was paused for `sessions.expireAfterMs` and nothing holds it, or for `sessions.expireHeldAfterMs`, or it is told to expire"
  },
  completed: {
    from: live,
    to: ["completed"],
    when: "its phase or run is done, or, standalone, its agent reports `complete`"
  },
  aborted: { from: live, to: ["aborted"], when: "it is aborted, or a turn of its run reached a time limit" },
  failed: {
    from: ["requested", "created", "active"],
    to: ["failed"],
    when: "the runtime could not open it or lost it, or the configured action is `fail`"
  },
  replaced: {
    from: ["active"],
    to: ["created"],
    when: "the runtime lost it, and its turn continues in a new runtime session with the earlier conversation"
  },
  "started over": {
    from: [...opened, ...ended],
    to: ["requested"],
    when: "a human chose `fix` for a standalone session, or a turn that may use a new session was requested after its end"
  }
} as const satisfies Record<string, Transition>

export type Way = keyof typeof transitions

/** The ways from one status to another; none: the session cannot get there. */
export const waysOf = (from: Status | "start", to: Status): ReadonlyArray<Way> => {
  const all: Readonly<Record<string, Transition>> = transitions
  return Object.keys(transitions).filter((way): way is Way => {
    const one = all[way]
    return one?.from.includes(from) === true && one.to.includes(to)
  })
}
