/**
 * A prompt ended well, or stopped half-way: the report is asked for and read, or the work continues
 * (docs/design/sessions.md#turns).
 */

import type { Delivery } from "@reprise/actor"
import { defined } from "@reprise/protocol"
import { Result } from "effect"
import { actionTaken, afterProgress, chooseAction, triedFor } from "../session/actions.ts"
import { type CurrentPrompt, currentPrompt, type Decision, refuseOutdated } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { EventOf, JournalEvent } from "../session/journal.ts"
import { eventFields, type Session } from "../session/state.ts"
import { usedByPrompt } from "../session/usage.ts"
import type { SessionSettings } from "../settings.ts"
import { decodeReport } from "./decodeReport.ts"
import { turnAndSessionFailed, turnCompleted, turnFailed } from "./endTurn.ts"
import { sessionReplaced, usageAdded } from "./evolveTurn.ts"
import { delayed, nextAfterStop, nextCorrection, nextReport } from "./nextPrompt.ts"

type Ended = Report<"RecordPromptResult" | "RecordPromptStopped" | "RecordPromptFailed">

const givenBy = (report: Ended): { readonly given?: boolean } => {
  const given = report._tag === "RecordPromptFailed" ? report.given : true
  return given === undefined ? {} : { given }
}

/** What a prompt used, which counts however it ended. */
export const promptEnded = (session: Session, report: Ended, delivery: Delivery): EventOf<"PromptEnded"> => ({
  _tag: "PromptEnded",
  turnId: report.turnId,
  number: report.number,
  ...usedByPrompt(session, report, report.total),
  attempts: report.attempts,
  toolCalls: report.toolCalls,
  ...defined({
    humanMs: report.humanMs,
    messages: report.messages,
    context: report.context,
    model: report.model,
    finish: report.finish,
    lastLines: report.lastLines,
    commit: report.commit
  }),
  ...givenBy(report),
  ...(report._tag === "RecordPromptResult" && report.answered !== undefined ? { answered: report.answered } : {}),
  at: delivery.now
})

/** A continued session must have more messages than before; otherwise the runtime silently began a new conversation. */
const silentlyReplaced = (
  session: Session,
  { details, prompt, turn }: CurrentPrompt,
  messages: number | undefined
): ReadonlyArray<JournalEvent> => {
  if (prompt.kind === "report" || prompt.kind === "correction") return []
  if (!turn.continued || messages === undefined || messages > turn.messagesBefore) return []
  const id = session.runtimeSessionId ?? details.sessionId
  const reason = "the runtime began a new conversation under the same id"
  return [{ _tag: "SessionReplaced", ...eventFields(details, turn.request.turnId), old: id, new: id, reason }]
}

/** Adds what the current prompt used to its turn, and says what follows. */
const endPrompt = (
  session: Session,
  report: Report<"RecordPromptResult" | "RecordPromptStopped">,
  delivery: Delivery,
  next: (current: CurrentPrompt) => ReadonlyArray<JournalEvent>
): Decision => {
  const current = currentPrompt(session, report)
  if (current === undefined) return refuseOutdated(session, report.turnId)
  const replaced = silentlyReplaced(session, current, report.messages)
  // What the new conversation has used is not counted yet, whatever was of the old one.
  const ended = promptEnded(replaced.length === 0 ? session : sessionReplaced(session), report, delivery)
  return Result.succeed([...replaced, ended, ...next({ ...current, turn: usageAdded(current.turn, ended) })])
}

/** The report ends the turn. One that is missing or cannot be read is asked for once more. */
const readReport = ({ details, turn }: CurrentPrompt, text: string, delivery: Delivery): JournalEvent => {
  const read = decodeReport(details.report, text)
  if (Result.isSuccess(read)) return turnCompleted(details, turn, read.success, delivery)
  const { isMissing, problem } = read.failure
  if (turn.corrections === 0) {
    return isMissing && turn.prompt?.kind !== "report"
      ? nextReport(turn, details, delivery, "no-report")
      : nextCorrection(turn, details, delivery, problem)
  }
  const message = `The agent finished, but its report could not be read, twice: ${problem}`
  return turnFailed(details, turn, { kind: "invalid-report", message, sessionUsable: true }, delivery)
}

export const recordPromptResult = (
  session: Session,
  report: Report<"RecordPromptResult">,
  delivery: Delivery,
  settings: SessionSettings
): Decision =>
  endPrompt(session, report, delivery, (current) => {
    const { details, prompt, turn } = current
    // What a human said after the report is newer than it: the agent is asked again when they are done.
    if (report.spokenAfter === true) return [nextReport(turn, details, delivery, "newer-words")]
    if (prompt.kind === "report" || prompt.kind === "correction") return [readReport(current, report.text, delivery)]
    return [
      settings.report === "asked" ? nextReport(turn, details, delivery) : readReport(current, report.text, delivery)
    ]
  })

/** More actions than any turn needs that makes progress: without a limit, one that makes none would never end. */
export const maxActions = 50

/** Whether the agent did anything since it was prompted. */
export const hasWorked = ({
  tokens,
  toolCalls
}: Pick<Report<"RecordPromptStopped">, "tokens" | "toolCalls">): boolean => toolCalls > 0 || tokens.output > 0

/** The agent is idle in a sound session and has not reported: the action that is configured for that. */
const stoppedIdle = (
  session: Session,
  current: CurrentPrompt,
  report: Report<"RecordPromptStopped">,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const { details, turn } = current
  const tried = afterProgress(triedFor(session, "idle"), hasWorked(report), delivery.now)
  const mayAct = session.actionCount < maxActions
  const chosen = chooseAction(
    settings.actions.onIdle,
    tried,
    delivery.now,
    (action) => action === "escalate" || action === "fail" || mayAct
  )
  const message = "The runtime stopped in the middle of the turn, and again after a restart."
  const failure = { kind: "runtime", message, sessionUsable: true } as const
  const record = () => actionTaken(session, details, "idle", chosen, delivery.now)
  switch (chosen.action) {
    case "nudge":
      return [...record(), delayed(nextAfterStop(current, delivery, "unfinished", settings), chosen.delayMs)]
    case "report":
      return [...record(), delayed(nextReport(turn, details, delivery), chosen.delayMs)]
    case "fail":
      return turnAndSessionFailed(details, turn, failure, delivery)
    case "escalate":
      return [turnFailed(details, turn, failure, delivery)]
  }
}

/** A worker that may not have been the first sends the prompt. */
export const recordPromptAgain = (session: Session, { number, turnId }: Report<"RecordPromptAgain">): Decision =>
  Result.succeed(
    currentPrompt(session, { number, turnId }) === undefined ? [] : [{ _tag: "PromptTakenUp", turnId, number }]
  )

/** After a turn limit the work continues by itself a few times; after a crash the configured action decides. */
export const recordPromptStopped = (
  session: Session,
  report: Report<"RecordPromptStopped">,
  delivery: Delivery,
  settings: SessionSettings
): Decision =>
  endPrompt(session, report, delivery, (current) => {
    const { details, turn } = current
    if (report.why === "unfinished") return stoppedIdle(session, current, report, delivery, settings)
    if (turn.autoContinues < settings.maxAutoContinues) return [nextAfterStop(current, delivery, report.why, settings)]
    const message = `The turn reached its limit ${turn.autoContinues + 1} times and the work is not done.`
    return [turnFailed(details, turn, { kind: "turn-limit", message, sessionUsable: true }, delivery)]
  })
