/**
 * What is done about an agent that is idle without a report, gone, asking or failing: the configured actions, in
 * order, each as often as it may be tried (docs/design/sessions.md#auto-resume).
 */
import { defined, VendorFailure } from "@reprise/protocol"
import type { ActionName, Configured, Detailed } from "../settings.ts"
import type { EventOf, JournalEvent, SessionDetails, Trigger } from "./journal.ts"
import { eventFields, type Session, type TriedActions } from "./state.ts"

export const nothingTried: TriedActions = { counts: [] }

export interface ChosenAction<Name extends ActionName = ActionName> {
  readonly action: Name | "escalate"
  /** Its index in the configuration. */
  readonly index: number
  /** From 1. */
  readonly attempt: number
  /** How long to wait first, so that attempts are as far apart as configured. */
  readonly delayMs: number
}

/** Waiting has a limit of its own, and the agent's questions are answered as often as it asks. */
const unlimited: ReadonlyArray<ActionName> = ["wait", "approve", "reject", "escalate", "fail"]

const isDetailed = <Name extends ActionName>(one: Configured<Name>): one is Detailed<Name> => typeof one === "object"

const withDefaults = <Name extends ActionName>(configured: Configured<Name>) => {
  const one: Detailed<Name> = isDetailed(configured) ? configured : { action: configured }
  const attempts = one.attempts ?? (unlimited.includes(one.action) ? Number.POSITIVE_INFINITY : 1)
  return { action: one.action, attempts, cooldownMs: one.cooldownMs ?? 0 }
}

/** The first action that is possible and has attempts left; else a human is asked. */
export const chooseAction = <Name extends ActionName>(
  configured: ReadonlyArray<Configured<Name>>,
  tried: TriedActions,
  now: string,
  isPossible: (action: Name) => boolean = () => true
): ChosenAction<Name> => {
  for (const [index, one] of configured.entries()) {
    const { action, attempts, cooldownMs } = withDefaults(one)
    const count = tried.counts[index] ?? 0
    if (count >= attempts || !isPossible(action)) continue
    const sinceLastMs = tried.lastAt === undefined ? Infinity : Date.parse(now) - Date.parse(tried.lastAt)
    return { action, index, attempt: count + 1, delayMs: Math.max(0, cooldownMs - sinceLastMs) }
  }
  return { action: "escalate", index: configured.length, attempt: 1, delayMs: 0 }
}

/** The counts after an action was taken: those of the actions behind it start again from zero. */
export const countAttempt = (
  tried: TriedActions,
  { attempt, index }: Pick<ChosenAction, "attempt" | "index">,
  at: string
): TriedActions => ({
  counts: [...Array.from({ length: index }, (_, before) => tried.counts[before] ?? 0), attempt],
  lastAt: at
})

/** Activity within this long of Reprise's prompt or action may only be a reaction to it. */
export const echoMs = 60_000

/** Forgets earlier attempts once the agent has made progress that is not just a reaction to our last action. */
export const afterProgress = (tried: TriedActions, worked: boolean, now: string): TriedActions => {
  const isEcho = tried.lastAt !== undefined && Date.parse(now) - Date.parse(tried.lastAt) <= echoMs
  return worked && !isEcho ? nothingTried : tried
}

export const triggerOf = (kind: "gone" | VendorFailure): Trigger => (kind === "gone" ? kind : `error.${kind}`)

/** The vendor's failure that a trigger is about; undefined: it is about something else. */
export const vendorOf = (trigger: Trigger): VendorFailure | undefined =>
  VendorFailure.literals.find((kind) => triggerOf(kind) === trigger)

export const triedFor = (session: Session, trigger: Trigger): TriedActions => session.tried[trigger] ?? nothingTried

type Published = EventOf<"ActionTaken">

const isPublished = (action: ActionName): action is Published["action"] =>
  action === "nudge" || action === "report" || action === "continue" || action === "approve" || action === "reject"

/** The record of an action: counted for the next choice, and published unless it only waits or hands over. */
export const actionTaken = (
  session: Session,
  details: SessionDetails,
  trigger: Trigger,
  { action, attempt, index }: ChosenAction,
  at: string,
  question?: string
): ReadonlyArray<JournalEvent> => {
  const counted: JournalEvent = { _tag: "ActionCounted", trigger, index, attempt, at }
  if (!isPublished(action)) return [counted]
  const isError = trigger !== "idle" && trigger !== "gone" && trigger !== "prompt"
  const about = question ?? (isError ? trigger.slice("error.".length) : undefined)
  return [
    counted,
    {
      _tag: "ActionTaken",
      ...eventFields(details, session.turn?.request.turnId),
      trigger: isError ? "error" : trigger,
      action,
      ...defined({ about }),
      attempt
    }
  ]
}

/** The fold of an attempt. */
export const attemptCounted = (
  session: Session,
  trigger: Trigger,
  chosen: { readonly index: number; readonly attempt: number; readonly at: string }
): Session => ({
  ...session,
  tried: { ...session.tried, [trigger]: countAttempt(triedFor(session, trigger), chosen, chosen.at) }
})

/** A reply to the agent's question does not count towards the actions that a turn may lead to. */
export const actionCounted = (session: Session, event: EventOf<"ActionCounted">): Session => ({
  ...attemptCounted(session, event.trigger, event),
  actionCount: session.actionCount + (event.trigger === "prompt" ? 0 : 1)
})
