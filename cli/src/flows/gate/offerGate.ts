/** The gate for whoever watches runs: lines scroll by, and a key opens it on the full screen. */
import type { Key, RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { hasFullScreen } from "../../terminal/fullScreen.ts"
import { color, say } from "../../terminal/Printer.ts"
import { untilKey } from "../../terminal/untilKey.ts"
import { visible } from "../../terminal/visible.ts"
import { Display } from "../../views/live/Display.ts"
import { answerKey } from "../../views/live/statusLines.ts"
import { answerAllOnScreen, questionsOf } from "./answerAllOnScreen.ts"

/** A gate that fails does not end the command below it. */
const told = (error: unknown) =>
  Effect.sync(() => say(color.red(visible(error instanceof Error ? error.message : String(error)))))

/** Until the scope closes. Where no screen can be drawn nothing is offered: `reprise gate` asks line by line. */
export const offerGate = Effect.fn("offerGate")(function* (runId?: RunId | Key) {
  const display = yield* Display
  if (!display.hears || !(yield* hasFullScreen)) return
  const countOpen = Effect.tap(questionsOf(runId), (open) =>
    display.asked(open.map(({ escalationId }) => escalationId))
  )
  const answerOnce = Effect.gen(function* () {
    yield* untilKey(answerKey)
    if ((yield* countOpen).length === 0) return say("No question is open.")
    yield* answerAllOnScreen(false, runId)
  })
  yield* countOpen
  yield* Effect.forkScoped(Effect.forever(Effect.catch(answerOnce, told)))
})
