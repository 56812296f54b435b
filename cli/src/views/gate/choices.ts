/** What follows from a choice. Pure. */
import type { UsableNames } from "@reprise/gate/typedAnswer"
import {
  agentText,
  type EscalationOption,
  type EscalationView,
  hasAgentOptions,
  isStandalone,
  type KeyedChoice
} from "@reprise/protocol"
import { readAnswerText } from "./answerText.ts"

/** No choice of a question: it stays open, and another session tries again. */
export const forkChoice: KeyedChoice = {
  key: "R",
  option: { name: "fork", label: "Try again from here, in another session", keys: ["R"], guidance: "optional" }
}

const nobody = "No agent is told anything"

const told = (words: string): string => `The agent will be told: ${words}`

const toldByAgentOption = ({ origin }: EscalationView, { label, name }: EscalationOption, words: string): string => {
  if (name === "other") return told(words)
  if (words === "") return told(label)
  if (origin === "permission" && name !== "reject") return `${told(label)}. In its next prompt: ${words}`
  return told(`${label}: ${words}`)
}

const endText = (question: EscalationView, words: string): string => {
  const what = isStandalone(question) ? "session" : "run"
  return `${nobody}: the ${what} ends.${words === "" ? "" : ` Recorded as the reason: ${words}`}`
}

const approvalText = ({ origin }: EscalationView, words: string): string => {
  if (origin === "plan") {
    return words === ""
      ? `${nobody}; the phases stay as they were.`
      : `The agent of the next phase will be told: ${words}`
  }
  return `${nobody}: the phase counts as approved.${words === "" ? "" : ` Recorded as the reason: ${words}`}`
}

const choiceText = (question: EscalationView, option: EscalationOption, words: string): string => {
  if (hasAgentOptions(question) || question.origin === "checkpoint") return toldByAgentOption(question, option, words)
  switch (option.name) {
    case "continue-session":
      return words === "" ? told("go on where you stopped.") : told(words)
    case "fix":
      if (words !== "") return told(words)
      return question.origin === "plan"
        ? `${nobody}: the plan is read again.`
        : told("its task again, without more words.")
    case "change-model":
      return words === ""
        ? `${nobody}: the next turn has another model.`
        : `${nobody}: the next turn has model ${words}.`
    case "pause":
      return words === "" ? `${nobody}: the run pauses.` : `The agent of the next phase will be told: ${words}`
    case "continue":
      return words === "" ? `${nobody}: the run continues.` : `The agent of the next phase will be told: ${words}`
    case "retry":
      return words === "" ? `${nobody}: the record is checked again.` : told(words)
    default:
      return told(words === "" ? option.label : `${option.label}: ${words}`)
  }
}

/** Options after which what was said before is in an agent's next prompt. */
const speaks: ReadonlySet<string> = new Set(["continue-session", "fix", "redo", "retry"])

/** Who takes over, where the human has named somebody. */
const takeOver = (named: UsableNames): string => {
  const text = agentText(named)
  if (text === "") return ""
  const who = named.runtime === undefined ? `The author with ${text}` : text
  return `${who} takes over for the rest of the phase. `
}

/** What follows from the choice, said before it is sent. `guidance` is what the human has written so far. */
export const consequence = (question: EscalationView, option: EscalationOption, guidance: string): string => {
  if (option === forkChoice.option) {
    const words = guidance.trim()
    return `Another session tries again from the last turn, in a worktree${words === "" ? "" : `, and is told: ${words}`}. The question stays open.`
  }
  const written = readAnswerText(option, guidance)
  if (written._tag === "Wrong") return written.message
  return takeOver(written.agent) + consequenceOf(question, option, written.words)
}

const consequenceOf = (question: EscalationView, option: EscalationOption, guidance: string): string => {
  const words = guidance.trim()
  if (!hasAgentOptions(question)) {
    if (option.name === "abort") return endText(question, words)
    if (option.name === "override") return approvalText(question, words)
  }
  const before = speaks.has(option.name) ? (question.evidence.willBeTold ?? []).map(({ text }) => text) : []
  const more = before.length === 0 ? "" : `\nAnd what was said before: ${before.join("\n")}`
  return choiceText(question, option, words) + more
}
