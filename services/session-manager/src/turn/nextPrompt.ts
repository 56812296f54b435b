/** The next prompt of a turn: what it says, under which ids. */

import type { Delivery } from "@reprise/actor"
import { promptIds } from "@reprise/agent/promptIds"
import { defined } from "@reprise/protocol"
import {
  continuationPrompt,
  correctionPrompt,
  reportPrompt,
  withEarlierConversation,
  withForkedConversation,
  withReportRequest,
  withUncommitted
} from "../prompts.ts"
import type { CurrentPrompt } from "../session/guards.ts"
import type { EventOf, SessionDetails } from "../session/journal.ts"
import type { OpenTurn } from "../session/state.ts"
import type { SessionSettings } from "../settings.ts"

type Prepared = EventOf<"PromptPrepared">

const nextPrompt = (
  turn: OpenTurn,
  delivery: Delivery,
  prompt: Pick<Prepared, "kind" | "text"> & Partial<Pick<Prepared, "because">>
): Prepared => {
  const { turnId } = turn.request
  const number = (turn.prompt?.number ?? 0) + 1
  return {
    _tag: "PromptPrepared",
    turnId,
    number,
    identity: promptIds(Date.parse(delivery.now), turnId, number),
    at: delivery.now,
    ...prompt
  }
}

type Reporting = Pick<SessionSettings, "report">

/**
 * The turn's own prompt; in a session that replaces another, the whole prompt with the earlier conversation. A fork that
 * could not be copied is told its conversation.
 * `uncommitted`: what its agent finds in the working tree.
 */
export const nextWork = (
  turn: OpenTurn,
  details: SessionDetails,
  delivery: Delivery,
  { report }: Reporting,
  uncommitted?: string
): Prepared => {
  const { earlierConversation, lost, request } = turn
  const isReplaced = lost !== undefined && request.fresh !== true
  const asked = isReplaced
    ? withEarlierConversation(request.freshPrompt, earlierConversation)
    : withForkedConversation(lost === undefined ? request.prompt : request.freshPrompt, earlierConversation)
  const text = uncommitted === undefined ? asked : withUncommitted(asked, uncommitted, details.prompts)
  return nextPrompt(turn, delivery, {
    kind: "work",
    text: withReportRequest(text, details.report, report, details.prompts)
  })
}

/** `because`: the agent was asked for its report before, and gave none, or a human has spoken since. */
export const nextReport = (
  turn: OpenTurn,
  details: SessionDetails,
  delivery: Delivery,
  because?: "no-report" | "newer-words"
): Prepared =>
  nextPrompt(turn, delivery, {
    kind: "report",
    text: reportPrompt(details.report, details.prompts),
    ...defined({ because })
  })

export const nextCorrection = (
  turn: OpenTurn,
  details: SessionDetails,
  delivery: Delivery,
  problem: string
): Prepared =>
  nextPrompt(turn, delivery, {
    kind: "correction",
    text: correctionPrompt(details.report, problem, details.prompts),
    because: "invalid-report"
  })

/** After a prompt that stopped half-way: work is continued, a report is asked for again in the same words. */
export const nextAfterStop = (
  { details, prompt, turn }: CurrentPrompt,
  delivery: Delivery,
  because: "unfinished" | "turn-limit",
  { report }: Reporting
): Prepared => {
  if (prompt.kind === "report" || prompt.kind === "correction") {
    return nextPrompt(turn, delivery, { kind: prompt.kind, text: prompt.text, because })
  }
  const text = withReportRequest(continuationPrompt(because), details.report, report, details.prompts)
  return nextPrompt(turn, delivery, { kind: "continuation", text, because })
}

/** The same prompt, sent later. */
export const delayed = (prompt: Prepared, delayMs: number): Prepared => (delayMs > 0 ? { ...prompt, delayMs } : prompt)
