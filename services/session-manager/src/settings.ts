/** The session-manager's settings: how patient it is, and what it does about an agent that needs attention. */
import type { VendorFailure } from "@reprise/protocol"
import { Duration, Schema } from "effect"

const attempts = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
const cooldownMs = Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))

/** An action is its name alone, or the name with `attempts` and `cooldownMs`. */
const actionsOf = <const Names extends ReadonlyArray<string>>(names: Names) => {
  const name = Schema.Literals(names)
  return Schema.Array(Schema.Union([name, Schema.Struct({ action: name, attempts, cooldownMs })]))
}

export const IdleActions = actionsOf(["nudge", "report", "escalate", "fail"])
export const GoneActions = actionsOf(["continue", "escalate", "fail"])
export const PromptActions = actionsOf(["escalate", "approve", "reject"])
export const ErrorActions = actionsOf(["wait", "continue", "escalate", "fail"])

export type ActionName = "nudge" | "report" | "continue" | "wait" | "approve" | "reject" | "escalate" | "fail"

/** `attempts`: how often it is tried. `cooldownMs`: the shortest time between two attempts. */
export interface Detailed<Name extends ActionName> {
  readonly action: Name
  readonly attempts?: number
  readonly cooldownMs?: number
}

/** An action as the configuration writes it. */
export type Configured<Name extends ActionName = ActionName> = Name | Detailed<Name>

/** Each list is tried in order, every action as often as it says; when none is left, a human is asked. */
export interface ActionSettings {
  readonly onIdle: ReadonlyArray<Configured<"nudge" | "report" | "escalate" | "fail">>
  readonly onGone: ReadonlyArray<Configured<"continue" | "escalate" | "fail">>
  readonly onPrompt: ReadonlyArray<Configured<"escalate" | "approve" | "reject">>
  readonly onError: Readonly<
    Record<VendorFailure, ReadonlyArray<Configured<"wait" | "continue" | "escalate" | "fail">>>
  >
}

export const defaultActions: ActionSettings = {
  onIdle: ["nudge", "escalate"],
  onGone: ["escalate"],
  onPrompt: ["escalate"],
  onError: {
    rate_limited: ["wait", "escalate"],
    out_of_credits: ["wait", "escalate"],
    no_internet: ["wait", "escalate"],
    unauthorized: ["escalate"],
    other: ["escalate"]
  }
}

export interface SessionSettings {
  /** A session without a turn is paused after this long. */
  readonly idleAfter: Duration.Duration
  /** A paused session that nothing needs expires after this long. */
  readonly expireAfter: Duration.Duration
  /** One that its phase or a question may need expires after this long; 0: never. */
  readonly expireHeldAfter: Duration.Duration
  /** During a turn, what was said is saved this often; 0: only at its end. */
  readonly saveEvery: Duration.Duration
  /** How long a turn waits in total for a rate limit, for credit or for the network. */
  readonly maxWait: Duration.Duration
  /** The first such wait where the runtime does not say how long; each further one is twice as long. */
  readonly firstWait: Duration.Duration
  /** No single wait is longer, unless the runtime asks for more. */
  readonly longestWait: Duration.Duration
  /** How often a turn that reached the runtime's turn limit continues by itself. */
  readonly maxAutoContinues: number
  /** An agent counts as idle after this long without activity. */
  readonly idleGrace: Duration.Duration
  /** An agent reports at the end of its work, or in an answer to a prompt of its own. */
  readonly report: "with-work" | "asked"
  readonly actions: ActionSettings
  /** A turn whose agent writes more than this in one answer is stopped, and a human is asked. Not configurable. */
  readonly longestAnswerChars: number
}

export const defaultSettings: SessionSettings = {
  idleAfter: Duration.minutes(5),
  expireAfter: Duration.minutes(30),
  expireHeldAfter: Duration.days(7),
  saveEvery: Duration.minutes(5),
  maxWait: Duration.hours(1),
  firstWait: Duration.seconds(30),
  longestWait: Duration.minutes(30),
  maxAutoContinues: 6,
  idleGrace: Duration.seconds(10),
  report: "with-work",
  actions: defaultActions,
  // Eight times what the longest answers of models hold.
  longestAnswerChars: 4 * 1024 * 1024
}

/** The ISO time so long after another. */
export const after = (iso: string, wait: Duration.Duration): string =>
  new Date(Date.parse(iso) + Duration.toMillis(wait)).toISOString()
