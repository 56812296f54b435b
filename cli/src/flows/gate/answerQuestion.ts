/** Sends an answer to the gate and waits for its outcome. */
import { userInfo } from "node:os"
import { Messenger } from "@reprise/actor"
import { type EscalationView, to } from "@reprise/protocol"
import { Effect } from "effect"
import { findQuestion } from "../../system/lookUp.ts"
import { newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { color, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { askInTerminal, type Closed } from "./askInTerminal.ts"

export interface Answer {
  readonly choice: string
  readonly guidance?: string
}

/** The name of whoever runs this process. */
export const user = (): string => {
  try {
    return userInfo().username
  } catch {
    return "unknown"
  }
}

/**
 * Succeeds once the gate has recorded this answer; fails with exit code 2 if the gate refuses it (already
 * answered, not an option, withdrawn). Sending the same command id again does not answer twice.
 */
export const answerQuestion = Effect.fn("answerQuestion")(function* (
  question: EscalationView,
  answer: Answer,
  via: "terminal" | "cli" | "demo",
  commandId = newCommandId("answer")
) {
  const messenger = yield* Messenger
  const { escalationId, runId } = question
  const command = to.gate(escalationId).AnswerEscalation({ ...answer, by: user(), via })
  yield* messenger.ask(command, { ...commandId, subject: runId }).pipe(
    Effect.catchTags({
      Refused: ({ reason }) => wrongUse("refused", reason, `'reprise gate show ${escalationId}' shows the question.`),
      NoAnswer: () =>
        missing(
          "gate-silent",
          `The gate did not confirm the answer to ${escalationId}.`,
          "The answer is stored and will be handled when the gate service runs; 'reprise doctor' shows what is wrong."
        )
    })
  )
})

const isAlwaysOpen = () => true

/**
 * Asks at the terminal until the gate accepts an answer or the question is closed. Returns how the human closed the
 * prompt, or undefined. `isOpen` may know that the question is closed before the gate's view shows it.
 */
export const answerInTerminal = Effect.fnUntraced(function* (
  escalationId: string,
  isOpen: () => boolean = isAlwaysOpen
): Effect.fn.Return<Closed | undefined, unknown, Messenger> {
  while (true) {
    const question = yield* findQuestion(escalationId)
    if (question.state !== "open" || !isOpen()) return undefined
    const reply = yield* askInTerminal(question)
    if (reply._tag === "Closed") return reply
    const refused = yield* answerQuestion(question, reply.answer, "terminal").pipe(
      Effect.as(undefined),
      Effect.catchTag("CliFailure", (failure) => Effect.succeed(failure))
    )
    if (refused === undefined) return undefined
    say(color.red(visible(refused.message)))
  }
})
