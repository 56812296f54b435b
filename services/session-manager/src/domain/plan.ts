/** Planning a turn's prompts: what is said next, under which ids. */
import type { Delivery } from "@reprise/actor"
import { promptIds } from "@reprise/agent/promptIds"
import type { EventOf, SessionDetails } from "./events.ts"
import { continuationPrompt, correctionPrompt, reportPrompt, withContext } from "./prompts.ts"
import type { OpenTurn } from "./Session.ts"

type Planned = EventOf<"PromptPlanned">

const planned = (
  turn: OpenTurn,
  delivery: Delivery,
  prompt: Pick<Planned, "kind" | "text"> & Partial<Pick<Planned, "because">>
): Planned => {
  const { turnId } = turn.request
  const number = (turn.prompt?.number ?? 0) + 1
  return {
    _tag: "PromptPlanned",
    turnId,
    number,
    identity: promptIds(Date.parse(delivery.now), turnId, number),
    at: delivery.now,
    ...prompt
  }
}

/** The turn's own prompt, or the whole one where the session had to be replaced, with what was said before. */
export const planWork = (turn: OpenTurn, delivery: Delivery): Planned =>
  planned(turn, delivery, {
    kind: "work",
    text: turn.lost === undefined ? turn.request.prompt : withContext(turn.request.freshPrompt, turn.earlier)
  })

/** The same prompt, sent later. */
export const heldBack = (prompt: Planned, delayMs: number): Planned => (delayMs > 0 ? { ...prompt, delayMs } : prompt)

export const planReport = (turn: OpenTurn, details: SessionDetails, delivery: Delivery): Planned =>
  planned(turn, delivery, { kind: "report", text: reportPrompt(details.report, details.prompts) })

export const planCorrection = (turn: OpenTurn, details: SessionDetails, delivery: Delivery, problem: string): Planned =>
  planned(turn, delivery, {
    kind: "correction",
    text: correctionPrompt(details.report, problem, details.prompts),
    because: "invalid-report"
  })

/** What follows a prompt that stopped half-way: the work goes on; a report is asked for again in the same words. */
export const planAgain = (
  turn: OpenTurn,
  prompt: Planned,
  delivery: Delivery,
  because: "unfinished" | "turn-limit"
): Planned =>
  prompt.kind === "report" || prompt.kind === "correction"
    ? planned(turn, delivery, { kind: prompt.kind, text: prompt.text, because })
    : planned(turn, delivery, { kind: "continuation", text: continuationPrompt(because), because })
