/** "Try again from here" in the web console: the same fork as at the terminal. */
import { type ConsoleFork, defined, type EscalationView, type SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import { newSessionId } from "../../system/names.ts"
import { forkAtQuestion } from "../forks/forkAtQuestion.ts"

/** Makes one fork for each command id. A browser sends again what was not confirmed. */
export const makeFork = () => {
  const made = new Map<string, SessionId>()
  return Effect.fn("forkFromConsole")(function* (question: EscalationView, { at, commandId, guidance }: ConsoleFork) {
    const sessionId = made.get(commandId) ?? newSessionId()
    made.set(commandId, sessionId)
    const wanted = defined({ words: guidance, at })
    const { branch, from } = yield* forkAtQuestion(question, wanted, sessionId)
    return { sessionId, branch, turn: from.turn }
  })
}
