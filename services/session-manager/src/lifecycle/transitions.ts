/**
 * The statuses of a session and what leads from one to another (sessions: Lifecycle). `evolve` does it; this table says
 * it, for the documentation, and a test holds them together.
 */
import type { SessionStatus } from "../actor/state.ts"

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
  asked: { from: ["start"], to: ["requested"], when: "a turn is asked for in a new session" },
  opened: {
    from: ["requested"],
    to: ["created"],
    when: "the runtime has made it; its id is written down before the first prompt"
  },
  working: {
    from: ["requested", "created", "paused"],
    to: ["active"],
    when: "the agent is seen working, for us, for a human or by itself"
  },
  continued: { from: ["created", "paused"], to: ["active"], when: "another turn is asked for in it" },
  idle: { from: ["created", "active"], to: ["paused"], when: "no turn was open for `sessions.idleAfterMs`" },
  unused: {
    from: live,
    to: ["expired"],
    when: "it was paused for `sessions.expireAfterMs` and nothing holds it, or it is told to expire"
  },
  done: { from: live, to: ["completed"], when: "its phase or run is done; a standalone one reports `complete`" },
  stopped: { from: live, to: ["aborted"], when: "it is aborted, or a turn of a run met its time limit" },
  lost: {
    from: ["requested", "created", "active"],
    to: ["failed"],
    when: "the runtime could not open it or lost it, or the configured action is `fail`"
  },
  replaced: {
    from: ["active"],
    to: ["created"],
    when: "the runtime lost it, and its turn goes on in a new one, which is told what still holds"
  },
  "begun anew": {
    from: [...opened, ...ended],
    to: ["requested"],
    when: "a human chose `fix` for a standalone session; or a turn that may go on in a new session met one that had ended"
  }
} as const satisfies Record<string, Transition>

export type Way = keyof typeof transitions

/** The ways by which a session may get from one status to another; none: it may not. */
export const waysOf = (from: Status | "start", to: Status): ReadonlyArray<Way> => {
  const all: Readonly<Record<string, Transition>> = transitions
  return Object.keys(transitions).filter((way): way is Way => {
    const one = all[way]
    return one?.from.includes(from) === true && one.to.includes(to)
  })
}
