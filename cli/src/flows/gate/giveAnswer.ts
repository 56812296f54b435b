/** `reprise gate answer ID CHOICE [--guidance TEXT|-]` */

import { text } from "node:stream/consumers"
import { parseAnswer } from "@reprise/gate/answer"
import { type EscalationView, isStandalone } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { withReading } from "../../system/clientSystem.ts"
import { newLetter } from "../../system/commandId.ts"
import { findQuestion } from "../../system/findQuestion.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { okJson, say } from "../../terminal/Printer.ts"
import { answerQuestion } from "./answerQuestion.ts"

interface Flags {
  readonly id: string
  readonly choice: string
  readonly guidance: Option.Option<string>
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const readGuidance = (given: Option.Option<string>): Effect.Effect<string | undefined> =>
  Option.match(given, {
    onNone: () => Effect.succeed(undefined),
    onSome: (guidance) => (guidance === "-" ? Effect.promise(() => text(process.stdin)) : Effect.succeed(guidance))
  })

/** An agent's own options mean what the agent says, whatever they are called. */
const isAgents = ({ evidence, origin }: EscalationView): boolean =>
  origin === "permission" || origin === "question" || evidence.checkpoint?.type === "decision"

/** What whoever answered may expect next. */
export const whatFollows = (question: EscalationView, choice: string): string => {
  const what = isStandalone(question) ? "session" : "run"
  if (choice === "abort" && !isAgents(question)) return `The ${what} ends.`
  if (choice === "pause" && question.origin === "phase-gate") return `'reprise resume ${question.runId}' lets it go on.`
  return what === "session"
    ? "The session goes on where it or 'reprise up' runs, or with the same 'reprise sessions start' again."
    : "The run goes on where 'reprise up' or 'reprise run' runs, or with the next of them."
}

export const giveAnswer = Effect.fn("giveAnswer")(function* (flags: Flags) {
  const letter = newLetter("answer")
  // Standard input can be read only once, and the rest may have to begin anew.
  const given = yield* Effect.cached(readGuidance(flags.guidance))
  yield* withReading(
    flags,
    Effect.gen(function* () {
      const question = yield* findQuestion(flags.id)
      const hint = `'reprise gate show ${flags.id}' shows the choices.`
      const typed = parseAnswer(flags.choice, question)
      if (typed._tag !== "Chosen") {
        const why = typed._tag === "AskAgain" ? typed.message : `'${flags.choice}' looks at something; it is no answer.`
        return yield* wrongUse("not-an-option", why, hint)
      }
      const choice = typed.option.name
      const guidance = (yield* given) ?? typed.guidance
      if (typed.option.guidance === "required" && (guidance ?? "").trim() === "") {
        return yield* wrongUse(
          "guidance-missing",
          `'${choice}' needs words.`,
          "Add --guidance TEXT, or --guidance - to read standard input."
        )
      }
      const answer = { choice, ...(guidance === undefined ? {} : { guidance }) }
      yield* answerQuestion(question, answer, "cli", letter)
      if (flags.json) return okJson({ escalationId: flags.id, ...answer })
      say(`Answered ${flags.id}: ${choice}. ${whatFollows(question, choice)}`)
    })
  )
})
