/** "Try again from here" in the web console: the same fork as at the terminal. */
import type { ConsoleFork, EscalationView, SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import { newSessionId } from "../../system/names.ts"
import { forkAtQuestion } from "../forks/forkAtQuestion.ts"

/** Makes one fork for each command id. A browser sends again what was not confirmed. */
export const makeFork = () => {
  const made = new Map<string, SessionId>()
  return Effect.fn("forkFromConsole")(function* (question: EscalationView, { at, commandId, guidance }: ConsoleFork) {
    const sessionId = made.get(commandId) ?? newSessionId()
    made.set(commandId, sessionId)
    const wanted = { ...(guidance === undefined ? {} : { words: guidance }), ...(at === undefined ? {} : { at }) }
    const { branch, from } = yield* forkAtQuestion(question, wanted, sessionId)
    return { sessionId, branch, turn: from.turn }
  })
}
