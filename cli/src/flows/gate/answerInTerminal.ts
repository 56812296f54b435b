/** Asks one question at the terminal: on the full screen where there is one, else line by line. */
import type { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { Effect } from "effect"
import { findQuestion } from "../../system/lookUp/lookUp.ts"
import { hasFullScreen } from "../../terminal/fullScreen.ts"
import { color, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { forkAtQuestion, forkedText } from "../forks/forkAtQuestion.ts"
import { answerQuestion } from "./answerQuestion.ts"
import { askInTerminal, type Closed } from "./askInTerminal.ts"
import { loadScreen } from "./loadScreen.ts"

const isAlwaysOpen = () => true

/**
 * Asks at the terminal until the gate accepts an answer or the question is closed. Returns how the human closed the
 * prompt, or undefined. `isOpen` may know that the question is closed before the gate's view shows it.
 */
export const answerInTerminal = Effect.fnUntraced(function* (
  escalationId: string,
  isOpen: () => boolean = isAlwaysOpen
): Effect.fn.Return<Closed | undefined, unknown, ActorConfig | Broker | Messenger> {
  if (yield* hasFullScreen) {
    const { answerOnScreen } = yield* loadScreen
    return yield* answerOnScreen(escalationId)
  }
  while (true) {
    const question = yield* findQuestion(escalationId)
    if (question.state !== "open" || !isOpen()) return undefined
    const reply = yield* askInTerminal(question)
    if (reply._tag === "Closed") return reply
    if (reply._tag === "Fork") {
      const told = yield* forkAtQuestion(question, reply.wanted).pipe(
        Effect.map((made) => visible(forkedText(made))),
        Effect.catchTag("CliFailure", ({ hint, message }) => Effect.succeed(color.red(visible(`${message} ${hint}`))))
      )
      say(told)
      continue
    }
    const refused = yield* answerQuestion(question, reply.answer, "terminal").pipe(
      Effect.as(undefined),
      Effect.catchTag("CliFailure", (failure) => Effect.succeed(failure))
    )
    if (refused === undefined) return undefined
    say(color.red(visible(refused.message)))
  }
})
