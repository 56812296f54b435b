/** Sends an answer to the gate and waits for its outcome. */
import { userInfo } from "node:os"
import { Messenger } from "@reprise/actor"
import type { EscalationView } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { showQuestion } from "../../system/lookUp.ts"
import { newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import { color, say, visible } from "../../terminal/Printer.ts"
import { askInTerminal, type Closed } from "./askInTerminal.ts"

export interface Answer {
  readonly choice: string
  readonly guidance?: string
}

const user = (): string => {
  try {
    return userInfo().username
  } catch {
    return "unknown"
  }
}

/**
 * Succeeds once the gate has recorded this answer; fails with exit code 2 if the gate refuses it (somebody else answered,
 * not an option, withdrawn). The same command id again is the same answer.
 */
export const answerQuestion = Effect.fn("answerQuestion")(function* (
  question: EscalationView,
  answer: Answer,
  via: "terminal" | "cli" | "demo",
  { id, since } = newCommandId("answer")
) {
  const messenger = yield* Messenger
  yield* messenger.send(
    "gate",
    question.escalationId,
    { _tag: "AnswerEscalation", escalationId: question.escalationId, ...answer, by: user(), via },
    { id, subject: question.runId }
  )
  const outcome = yield* messenger.events({ runId: question.runId, services: ["gate"], from: { since } }).pipe(
    Stream.filter(({ meta }) => meta.causation === id),
    Stream.runHead,
    Effect.timeoutOrElse({
      duration: "15 seconds",
      orElse: () =>
        missing(
          "gate-silent",
          `The gate did not confirm the answer to ${question.escalationId}.`,
          "The answer is stored and will be handled when the gate service runs; 'reprise doctor' shows what is wrong."
        )
    })
  )
  const event = Option.getOrUndefined(outcome)?.event
  if (event?._tag === "CommandRefused") {
    return yield* wrongUse("refused", event.reason, `'reprise gate show ${question.escalationId}' shows the question.`)
  }
})

const isAlwaysOpen = () => true

/**
 * Asks at the terminal until the gate accepts an answer or the question is closed. Returns how the human closed the
 * prompt, if so. `isOpen` knows of events that the gate's view may not show yet.
 */
export const answerInTerminal = Effect.fnUntraced(function* (
  escalationId: string,
  isOpen: () => boolean = isAlwaysOpen
): Effect.fn.Return<Closed | undefined, unknown, Messenger> {
  while (true) {
    const question = yield* showQuestion(escalationId)
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
