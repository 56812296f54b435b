/** What is done about an agent that is idle without a report, gone, asking or failing (sessions: Auto-resume). */
import { Schema } from "effect"

const attempts = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)))
const cooldownMs = Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))

/** One action by its name alone, or with how often it is tried and how far apart. */
const actionsOf = <const Names extends ReadonlyArray<string>>(names: Names) => {
  const name = Schema.Literals(names)
  return Schema.Array(Schema.Union([name, Schema.Struct({ action: name, attempts, cooldownMs })]))
}

export const IdleActions = actionsOf(["nudge", "report", "escalate", "fail"])
export const GoneActions = actionsOf(["continue", "escalate", "fail"])
export const PromptActions = actionsOf(["escalate", "approve", "reject"])
export const ErrorActions = actionsOf(["wait", "continue", "escalate", "fail"])

export type ActionName = "nudge" | "report" | "continue" | "wait" | "approve" | "reject" | "escalate" | "fail"

/** `attempts`: how often it is tried. `cooldownMs`: how far apart at least. */
export interface Detailed<Name extends ActionName> {
  readonly action: Name
  readonly attempts?: number
  readonly cooldownMs?: number
}

/** As it is written in the configuration. */
export type Configured<Name extends ActionName = ActionName> = Name | Detailed<Name>

export type ErrorKind = "rate_limited" | "out_of_credits" | "no_internet" | "unauthorized" | "other"

/** Tried in order, each as often as it says; when none is left, a human is asked. */
export interface ActionSettings {
  readonly onIdle: ReadonlyArray<Configured<"nudge" | "report" | "escalate" | "fail">>
  readonly onGone: ReadonlyArray<Configured<"continue" | "escalate" | "fail">>
  readonly onPrompt: ReadonlyArray<Configured<"escalate" | "approve" | "reject">>
  readonly onError: Readonly<Record<ErrorKind, ReadonlyArray<Configured<"wait" | "continue" | "escalate" | "fail">>>>
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
