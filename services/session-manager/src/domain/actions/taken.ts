/** The record of an action: counted for the next choice, and told to everybody. */
import type { EventOf, JournalEvent, SessionDetails } from "../events.ts"
import { placeOf, type Session } from "../Session.ts"
import type { ErrorKind } from "./Action.ts"
import { type Chosen, nothingTried, type Tried } from "./chooseAction.ts"

type Told = EventOf<"ActionTaken">

/** What attempts are counted for; never a text, which would vary and never run out. */
export type Trigger = "idle" | "gone" | "prompt" | `error.${ErrorKind}`

export const triedFor = (session: Session, trigger: Trigger): Tried => session.tried[trigger] ?? nothingTried

const isTold = (action: string): action is Told["action"] =>
  action === "nudge" || action === "report" || action === "continue" || action === "approve" || action === "reject"

export const taken = (
  session: Session,
  details: SessionDetails,
  trigger: Trigger,
  { action, attempt, place }: Chosen,
  at: string,
  about?: string
): ReadonlyArray<JournalEvent> => {
  const counted: JournalEvent = { _tag: "ActionCounted", trigger, place, attempt, at }
  if (!isTold(action)) return [counted]
  const isError = trigger !== "idle" && trigger !== "gone" && trigger !== "prompt"
  const what = about ?? (isError ? trigger.slice("error.".length) : undefined)
  return [
    counted,
    {
      _tag: "ActionTaken",
      ...placeOf(details, session.turn?.request.turnId),
      trigger: isError ? "error" : trigger,
      action,
      ...(what === undefined ? {} : { about: what }),
      attempt
    }
  ]
}
