/** Sends an answer to the gate and waits for what became of it. */
import { userInfo } from "node:os"
import { Messenger } from "@reprise/actor"
import type { EscalationView } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { newLetter } from "../../system/commandId.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"

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
 * Succeeds once the gate has recorded this answer; fails with exit code 2 when the gate refuses it (answered by
 * somebody else, not an option, withdrawn). The same letter again is the same answer.
 */
export const answerQuestion = Effect.fn("answerQuestion")(function* (
  question: EscalationView,
  answer: Answer,
  via: "terminal" | "cli" | "demo",
  { id, since } = newLetter("answer")
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
          `The gate did not say what became of the answer to ${question.escalationId}.`,
          "The answer is stored and will be handled when the gate service runs; 'reprise doctor' shows what is wrong."
        )
    })
  )
  const event = Option.getOrUndefined(outcome)?.event
  if (event?._tag === "CommandRefused") {
    return yield* wrongUse("refused", event.reason, `'reprise gate show ${question.escalationId}' shows the question.`)
  }
})
