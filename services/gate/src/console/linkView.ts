/** What the page of a link shows: what it answers, and whether it still can. Pure. */
import { type ConsoleLink, defined, type EscalationView } from "@reprise/protocol"
import { briefView } from "../actor/briefView.ts"
import { type AnswerLink, answererIn, isExpired } from "../notify/answerLink.ts"

const stateOf = (link: AnswerLink, { by, choice, state, via }: EscalationView, nowMs: number): ConsoleLink["state"] => {
  const isItsAnswer = via === "link" && choice === link.choice && by === answererIn(link.channel)
  if (state === "answered" && isItsAnswer) return "used"
  if (state !== "open") return "closed"
  return isExpired(link, nowMs) ? "expired" : "open"
}

/** Who has the link has the message about the question, so this shows no more: no words of a human, no evidence. */
export const linkView = (link: AnswerLink, question: EscalationView, nowMs: number): ConsoleLink => {
  const { guidance: _, sessionId: _session, ...shown } = briefView(question)
  const { label = link.choice } = question.options.find(({ name }) => name === link.choice) ?? {}
  const { commit } = question.evidence
  return {
    state: stateOf(link, question, nowMs),
    choice: link.choice,
    label,
    expiresAt: new Date(link.expiresAt * 1000).toISOString(),
    question: shown,
    ...defined({ commit })
  }
}
