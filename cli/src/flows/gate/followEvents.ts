/**
 * Follows one run or standalone session: prints its events, handles its questions one at a time, and returns the
 * first exit code passed to `finish`.
 */
import { Messenger, type SeenEvent } from "@reprise/actor"
import type { EscalationView, Key, PublicEvent, RunId } from "@reprise/protocol"
import { Effect, FiberHandle, Queue, Stream } from "effect"
import { untilNotified, untilSaved } from "../../system/lookUp/awaitSessions.ts"
import { findQuestion } from "../../system/lookUp/lookUp.ts"
import { untilNobodyWorks } from "../../system/lookUp/sessionsAtWork.ts"
import { type ExitCode, exitCodes } from "../../terminal/exitCodes.ts"
import { hasFullScreen } from "../../terminal/fullScreen.ts"
import { json, say } from "../../terminal/Printer.ts"
import type { Answer } from "../../views/gate/GateModel.ts"
import { Display } from "../../views/live/Display.ts"
import { publicJson } from "../../views/publicJson.ts"
import { questionText } from "../../views/questionText.ts"
import { answerInTerminal } from "./answerInTerminal.ts"
import { answerQuestion } from "./answerQuestion.ts"
import { loadScreen } from "./loadScreen.ts"

/** Who answers: the human at the terminal, nobody (the work is parked), or a function. */
export type Answerer = "terminal" | "nobody" | ((question: EscalationView) => Answer)

/** Stops following; `followEvents` returns this exit code. */
export type Finish = (code: ExitCode) => Effect.Effect<void>

export interface Followed<E, R> {
  /** For a standalone session its session id. */
  readonly runId: RunId
  readonly answerer: Answerer
  readonly json: boolean
  /** ISO time from which events are shown; absent: from the beginning. */
  readonly since?: string
  /** The question that is open already. */
  readonly openQuestion?: string
  /** The line for people, if the event says anything new. */
  readonly lineOf: (event: PublicEvent) => string | undefined
  /** Printed when nobody can answer. */
  readonly parked: (escalationId: string) => string
  /** Printed when the human closed the prompt. */
  readonly closed: string
  readonly onEvent: (event: PublicEvent, finish: Finish) => Effect.Effect<void, E, R>
}

const park = <E, R>(followed: Followed<E, R>, question: EscalationView, finish: Finish) => {
  const { json: asJson, parked } = followed
  if (!asJson) say(`${questionText(question, Date.now())}\n\n${parked(question.escalationId)}`)
  const settled = Effect.all([untilSaved(followed.runId), untilNotified(question.escalationId)], {
    concurrency: "unbounded",
    discard: true
  })
  return Effect.andThen(settled, finish(exitCodes.waiting))
}

const answerAtTerminal = Effect.fnUntraced(function* (escalationId: string, closedText: string, finish: Finish) {
  const closed = yield* answerInTerminal(escalationId)
  if (closed === undefined) return
  say(`\n${closedText}`)
  yield* finish(closed.by === "interrupt" ? exitCodes.interrupted : exitCodes.waiting)
})

const handleQuestion = Effect.fnUntraced(function* <E, R>(
  followed: Followed<E, R>,
  finish: Finish,
  escalationId: string
) {
  if (followed.answerer === "terminal") return yield* answerAtTerminal(escalationId, followed.closed, finish)
  const question = yield* findQuestion(escalationId)
  if (question.state !== "open") return
  if (followed.answerer === "nobody") {
    yield* untilNobodyWorks(question)
    const now = yield* findQuestion(escalationId)
    return now.state === "open" ? yield* park(followed, now, finish) : undefined
  }
  yield* answerQuestion(question, followed.answerer(question), "demo")
})

const print = (seen: SeenEvent, { json: asJson, lineOf }: Pick<Followed<never, never>, "json" | "lineOf">) =>
  Effect.flatMap(Display, (display) =>
    asJson ? Effect.sync(() => json(publicJson(seen.event, seen.meta))) : display.event(seen, lineOf(seen.event))
  )

/** What agents do right now, for a display that shows it. */
export const showLive = Effect.fnUntraced(function* (runId?: RunId | Key) {
  const display = yield* Display
  const messenger = yield* Messenger
  if (display.hears) yield* Effect.forkScoped(Stream.runForEach(messenger.hear(runId), display.live))
})

/** At most one question is asked at a time; a newer one replaces it. */
const makeQuestions = Effect.fnUntraced(function* <E, R>(followed: Followed<E, R>, finish: Finish) {
  const asking = yield* FiberHandle.make()
  let asked: string | undefined

  const ask = (escalationId: string) => {
    if (asked === escalationId) return Effect.void
    asked = escalationId
    const handled = handleQuestion(followed, finish, escalationId).pipe(
      Effect.catchCause((cause) => Effect.andThen(Effect.logError("asking failed", cause), finish(exitCodes.missing)))
    )
    // The older question leaves the terminal first: its human may be in an editor.
    return Effect.andThen(FiberHandle.clear(asking), FiberHandle.run(asking, handled))
  }

  /** The end of an older question may be reported after a newer one was raised. */
  const close = (escalationId: string) => (escalationId === asked ? FiberHandle.clear(asking) : Effect.void)

  return { ask, close }
})

export const followEvents = Effect.fn("followEvents")(function* <E, R>(followed: Followed<E, R>) {
  const messenger = yield* Messenger
  const codes = yield* Queue.unbounded<ExitCode>()
  const finish: Finish = (code) => Effect.asVoid(Queue.offer(codes, code))
  const questions = yield* makeQuestions(followed, finish)

  const onEvent = Effect.fnUntraced(function* (seen: SeenEvent) {
    const { event } = seen
    yield* print(seen, followed)
    if (event._tag === "EscalationRaised") yield* questions.ask(event.escalationId)
    if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") {
      yield* questions.close(event.escalationId)
    }
    yield* followed.onEvent(event, finish)
  })

  const { openQuestion, runId, since } = followed
  yield* showLive(runId)
  if (followed.answerer === "terminal" && (yield* hasFullScreen)) yield* Effect.forkScoped(loadScreen)
  if (openQuestion !== undefined) yield* questions.ask(openQuestion)
  return yield* messenger
    .events({ runId, from: since === undefined ? "beginning" : { since } })
    .pipe(Stream.runForEach(onEvent), Effect.as(exitCodes.missing), Effect.raceFirst(Queue.take(codes)))
}, Effect.scoped)
