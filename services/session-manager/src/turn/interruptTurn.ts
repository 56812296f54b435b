/** A turn is interrupted: its session stays usable, and a later turn goes on in it (docs/design/sessions.md#turns). */
import type { Delivery } from "@reprise/actor"
import { defined, noUsage, type SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { currentTurn, type Decision, isKnownTurn, nothing } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { EventOf } from "../session/journal.ts"
import type { OpenTurn, Session } from "../session/state.ts"
import { usedByPrompt } from "../session/usage.ts"
import { turnFailed } from "./endTurn.ts"
import { usageAdded } from "./evolveTurn.ts"

type InterruptTurn = Extract<SessionCommand, { readonly _tag: "InterruptTurn" }>

/** Messages to one session may pass each other: a turn that is not known yet is one that is still to be requested. */
const interruptEarly = ({ interruptedEarly }: Session, { reason, turnId }: InterruptTurn): Decision =>
  interruptedEarly.some((one) => one.turnId === turnId)
    ? nothing
    : Result.succeed([{ _tag: "InterruptedEarly", turnId, reason }])

/** Whatever the runtime does is stopped before the turn ends. Where nothing was sent, there is nothing to stop. */
export const interruptTurn = (session: Session, command: InterruptTurn, delivery: Delivery): Decision => {
  const { details, turn } = session
  const { reason, turnId } = command
  if (!isKnownTurn(session, turnId)) return interruptEarly(session, command)
  if (details === undefined || turn?.request.turnId !== turnId || turn.stage === "interrupting") return nothing
  // While it waits for a rate limit, its prompt was sent and has used tokens.
  const wasSent = turn.stage === "prompting" || (turn.stage === "waiting" && !turn.delayed)
  if (wasSent) return Result.succeed([{ _tag: "TurnInterrupting", turnId, reason }])
  const failure = { kind: "aborted", message: reason, sessionUsable: turn.stage !== "opening" } as const
  return Result.succeed([turnFailed(details, turn, failure, delivery)])
}

const promptEnded = (
  session: Session,
  { prompt }: OpenTurn,
  { commit, given, messages, model, total, turnId }: Report<"RecordInterrupted">,
  delivery: Delivery
): ReadonlyArray<EventOf<"PromptEnded">> =>
  prompt === undefined
    ? []
    : [
        {
          _tag: "PromptEnded",
          ...{ turnId, number: prompt.number, attempts: 1, toolCalls: 0 },
          ...usedByPrompt(session, noUsage, total),
          ...defined({ messages, model, given, commit }),
          at: delivery.now
        }
      ]

/** Nothing runs in the session any more. */
export const recordInterrupted = (
  session: Session,
  report: Report<"RecordInterrupted">,
  delivery: Delivery
): Decision => {
  const current = currentTurn(session, report.turnId, "interrupting")
  if (current === undefined) return nothing
  const { details, turn } = current
  const ended = promptEnded(session, turn, report, delivery)
  const failure = {
    kind: "aborted",
    message: turn.interruptedFor ?? "it was interrupted",
    sessionUsable: true
  } as const
  return Result.succeed([...ended, turnFailed(details, ended.reduce(usageAdded, turn), failure, delivery)])
}
