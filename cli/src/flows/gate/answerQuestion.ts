/** Sends an answer to the gate and waits for its outcome. */
import { userInfo } from "node:os"
import { Messenger } from "@reprise/actor"
import { defined, type EscalationView, to } from "@reprise/protocol"
import { Effect } from "effect"
import { requireAgent } from "../../system/agents/requireAgent.ts"
import { newCommandId } from "../../system/names.ts"
import { missing, wrongUse } from "../../terminal/CliFailure.ts"
import type { Answer } from "../../views/gate/GateModel.ts"

/** The name of whoever runs this process. */
export const user = (): string => {
  try {
    return userInfo().username
  } catch {
    return "unknown"
  }
}

/**
 * `question`: as the human saw it; the answer holds for its commit alone. Succeeds once the gate has recorded this answer;
 * fails with exit code 2 if the gate refuses it (already answered, not an option, withdrawn, about another commit by now).
 * Sending the same command id again does not answer twice.
 */
export const answerQuestion = Effect.fn("answerQuestion")(function* (
  question: EscalationView,
  answer: Answer,
  via: "terminal" | "cli" | "demo",
  commandId = newCommandId("answer")
) {
  yield* requireAgent(question, answer)
  const messenger = yield* Messenger
  const { escalationId, evidence, runId } = question
  const { commit = evidence.commit } = answer
  const command = to.gate(escalationId).AnswerEscalation({
    ...answer,
    ...defined({ commit }),
    by: user(),
    via
  })
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
