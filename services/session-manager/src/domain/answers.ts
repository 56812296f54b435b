/** What follows a prompt: the report is asked for, read, and asked for once more (sessions: Turns). */
import type { Delivery } from "@reprise/actor"
import { Result } from "effect"
import { afterProgress, chooseAction } from "./actions/chooseAction.ts"
import { taken, triedFor } from "./actions/taken.ts"
import { decodeReport } from "./decodeReport.ts"
import { gaveUp, turnCompleted, turnFailed } from "./endTurn.ts"
import type { EventOf, JournalEvent } from "./events.ts"
import { evolve } from "./evolve.ts"
import { type AtPrompt, type Decision, late, openPromptAt } from "./guards.ts"
import type { SessionReport } from "./messages.ts"
import { heldBack, planAgain, planCorrection, planReport } from "./plan.ts"
import { type OpenTurn, placeOf, type Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"

type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { readonly _tag: Tag }>

/** What a prompt used is kept whatever came of it. */
export const promptEnded = (
  report: Report<"RecordAnswer"> | Report<"RecordStopped"> | Report<"RecordFailed">,
  delivery: Delivery
): EventOf<"PromptEnded"> => ({
  _tag: "PromptEnded",
  turnId: report.turnId,
  number: report.number,
  tokens: report.tokens,
  cost: report.cost,
  attempts: report.attempts,
  toolCalls: report.toolCalls,
  ...(report.humanMs === undefined ? {} : { humanMs: report.humanMs }),
  ...(report.messages === undefined ? {} : { messages: report.messages }),
  ...(report.context === undefined ? {} : { context: report.context }),
  ...(report.lastLines === undefined ? {} : { lastLines: report.lastLines }),
  at: delivery.now
})

/** The turn with the prompt's usage added. */
export const turnWith = (session: Session, ended: JournalEvent, turn: OpenTurn): OpenTurn =>
  evolve(session, ended).turn ?? turn

/** A continued session must have grown; if it did not, the runtime began a new one and said nothing. */
const silentlyReplaced = (session: Session, at: AtPrompt, messages: number | undefined): ReadonlyArray<JournalEvent> =>
  at.turn.continued && messages !== undefined && messages <= at.turn.messagesBefore
    ? [
        {
          _tag: "SessionReplaced",
          ...placeOf(at.details, at.turn.request.turnId),
          old: session.runtimeSessionId ?? at.details.sessionId,
          new: session.runtimeSessionId ?? at.details.sessionId,
          reason: "the runtime began a new conversation under the same id"
        }
      ]
    : []

export const recordAnswer = (session: Session, report: Report<"RecordAnswer">, delivery: Delivery): Decision => {
  const at = openPromptAt(session, report)
  if (at === undefined) return late(session, report.turnId)
  const { details, prompt } = at
  const ended = promptEnded(report, delivery)
  const turn = turnWith(session, ended, at.turn)
  if (prompt.kind === "work" || prompt.kind === "continuation") {
    return Result.succeed([
      ended,
      ...silentlyReplaced(session, at, report.messages),
      planReport(turn, details, delivery)
    ])
  }
  const read = decodeReport(details.report, report.text)
  if (Result.isSuccess(read)) return Result.succeed([ended, turnCompleted(details, turn, read.success, delivery)])
  if (turn.corrections === 0) return Result.succeed([ended, planCorrection(turn, details, delivery, read.failure)])
  const message = `The report could not be read, and neither could its correction: ${read.failure}`
  return Result.succeed([
    ended,
    turnFailed(details, turn, { kind: "invalid-report", message, sessionUsable: true }, delivery)
  ])
}

/** Enough for any turn that gets somewhere; one that does not must not go on for ever. */
export const mostActions = 50

/** What the agent did since it was prompted. */
export const workedSince = ({ tokens, toolCalls }: Pick<Report<"RecordStopped">, "tokens" | "toolCalls">): boolean =>
  toolCalls > 0 || tokens.output > 0

/** The session is sound and its agent idle without a report: what is configured for that. */
const stoppedIdle = (
  session: Session,
  { details, prompt }: AtPrompt,
  turn: OpenTurn,
  report: Report<"RecordStopped">,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const tried = afterProgress(triedFor(session, "idle"), workedSince(report), delivery.now)
  const mayAct = session.actions < mostActions
  const chosen = chooseAction(
    settings.actions.onIdle,
    tried,
    delivery.now,
    (action) => action === "escalate" || action === "fail" || mayAct
  )
  const message = "The runtime stopped in the middle of the turn, and again after a restart."
  const failure = { kind: "runtime", message, sessionUsable: true } as const
  const record = () => taken(session, details, "idle", chosen, delivery.now)
  switch (chosen.action) {
    case "nudge":
      return [...record(), heldBack(planAgain(turn, prompt, delivery, "unfinished"), chosen.delayMs)]
    case "report":
      return [...record(), heldBack(planReport(turn, details, delivery), chosen.delayMs)]
    case "fail":
      return gaveUp(details, turn, failure, delivery)
    case "escalate":
      return [turnFailed(details, turn, failure, delivery)]
  }
}

/** The session is sound and the agent is not done: as configured after a crash, a few times on after a turn limit. */
export const recordStopped = (
  session: Session,
  report: Report<"RecordStopped">,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const at = openPromptAt(session, report)
  if (at === undefined) return late(session, report.turnId)
  const { details, prompt } = at
  const ended = promptEnded(report, delivery)
  const turn = turnWith(session, ended, at.turn)
  if (report.why === "unfinished") {
    return Result.succeed([ended, ...stoppedIdle(session, at, turn, report, delivery, settings)])
  }
  if (turn.autoContinues < settings.maxAutoContinues) {
    return Result.succeed([ended, planAgain(turn, prompt, delivery, report.why)])
  }
  const message = `The turn limit was reached ${turn.autoContinues + 1} times and the work is not done.`
  return Result.succeed([
    ended,
    turnFailed(details, turn, { kind: "turn-limit", message, sessionUsable: true }, delivery)
  ])
}
