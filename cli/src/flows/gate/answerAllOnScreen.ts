/** The open questions of every run, or of one, on the full screen, with those that come meanwhile. */
import { Messenger } from "@reprise/actor"
import type { Key, PublicEvent, RunId } from "@reprise/protocol"
import { Effect, Stream } from "effect"
import { findQuestion } from "../../system/lookUp/lookUp.ts"
import { overruledText, withdrawalText } from "../../views/eventLine.ts"
import type { GateInput } from "../../views/gate/GateModel.ts"
import { loadScreen } from "./loadScreen.ts"
import { openQuestions } from "./questions.ts"

type End = Extract<PublicEvent, { readonly _tag: "EscalationAnswered" | "EscalationWithdrawn" }>

/** How a question was closed; follows its id in a sentence. */
export const closedHow = (event: End): string =>
  event._tag === "EscalationAnswered"
    ? `was answered by ${event.by}: ${event.choice}`
    : `is closed: ${withdrawalText(event.reason)}`

/** What a question says now, for a screen that shows it. */
const openedNow = (escalationId: string, offer: (input: GateInput) => void) =>
  findQuestion(escalationId).pipe(
    Effect.flatMap((question) =>
      Effect.sync(() => {
        if (question.state === "open") offer({ _tag: "Opened", question })
      })
    ),
    Effect.ignore
  )

const tellScreen = (event: PublicEvent, offer: (input: GateInput) => void) => {
  switch (event._tag) {
    case "EscalationRaised":
      return openedNow(event.escalationId, offer)
    case "EscalationAnswered":
    case "EscalationWithdrawn":
      return Effect.sync(() => offer({ _tag: "Closed", escalationId: event.escalationId, how: `${closedHow(event)}.` }))
    case "EscalationOverruled":
      return Effect.sync(() => offer({ _tag: "Told", text: overruledText(event) }))
    default:
      return Effect.void
  }
}

/** The open questions of this run; without one, of every run. */
export const questionsOf = (runId: RunId | Key | undefined) =>
  Effect.map(openQuestions, (all) => all.filter((question) => runId === undefined || question.runId === runId))

/** Until the human leaves or, unless it `stays`, until no question is open. */
export const answerAllOnScreen = Effect.fn("answerAllOnScreen")(function* (stays: boolean, runId?: RunId | Key) {
  const { runScreen } = yield* loadScreen
  const messenger = yield* Messenger
  const since = new Date(Date.now() - 1000).toISOString()
  const run = runId === undefined ? {} : { runId }
  yield* runScreen({
    questions: yield* questionsOf(runId),
    stays,
    ...run,
    listen: (offer) =>
      messenger
        .events({ ...run, services: ["gate"], from: { since } })
        .pipe(Stream.runForEach(({ event }) => tellScreen(event, offer)))
  })
})
