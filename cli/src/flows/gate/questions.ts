/** `reprise gate list` and `reprise gate show ID` */
import type { EscalationLine, EscalationView } from "@reprise/protocol"
import { Effect } from "effect"
import { type ClientFlags, withClient, withLists } from "../../system/clientSystem.ts"
import { allQuestions, findQuestion, openQuestionLines } from "../../system/lookUp/lookUp.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { overruledText, withdrawalText } from "../../views/eventLine.ts"
import { questionText, since } from "../../views/questionText.ts"
import { stepName } from "../../views/stepText.ts"
import { firstLine, table } from "../../views/table.ts"

const oldestFirst = (one: { readonly raisedAt: string }, other: { readonly raisedAt: string }) =>
  one.raisedAt < other.raisedAt ? -1 : one.raisedAt > other.raisedAt ? 1 : 0

/** The oldest first. */
export const openQuestions = Effect.map(allQuestions, (all) =>
  all.filter(({ state }) => state === "open").sort(oldestFirst)
)

const row = ({ choices, escalationId, origin, phase, planPath = "", raisedAt, reason, step }: EscalationLine) => [
  escalationId,
  visible(planPath),
  phase ?? "",
  step === undefined ? "" : stepName(step),
  origin,
  since(raisedAt, Date.now()),
  firstLine(reason),
  visible(choices)
]

export const listQuestions = (flags: ClientFlags) =>
  withLists(
    flags,
    Effect.gen(function* () {
      if (flags.json) return okJson(yield* openQuestions)
      const questions = [...(yield* openQuestionLines)].sort(oldestFirst)
      if (questions.length === 0) return say("No open questions.")
      data(table(["id", "plan", "phase", "step", "from", "since", "why", "choices"], questions.map(row)))
    })
  )

const closedLine = ({ by = "unknown", choice, guidance, overruledFor, withdrawnFor }: EscalationView): string => {
  if (choice !== undefined && overruledFor !== undefined) {
    const said = guidance === undefined ? {} : { guidance }
    return visible(overruledText({ by, choice, ...said, reason: overruledFor }))
  }
  if (choice !== undefined) return `Answered: ${visible(choice)} by ${visible(by)}`
  return withdrawnFor === undefined ? "Closed" : `Closed: ${visible(withdrawalText(withdrawnFor))}`
}

export const showQuestion = (flags: ClientFlags & { readonly id: string }) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const question = yield* findQuestion(flags.id)
      if (flags.json) return okJson(question)
      data(questionText(question, Date.now()))
      if (question.state !== "open") data(`\n${closedLine(question)}`)
    })
  )
