/**
 * Attends to one run or standalone session: prints its events, asks the human it needs, one question at a time, and
 * ends with the exit code that is offered first.
 */
import { Messenger, type SeenEvent } from "@reprise/actor"
import type { EscalationView, RunId } from "@reprise/protocol"
import { Effect, FiberHandle, Queue, Stream } from "effect"
import { showQuestion } from "../../system/showRun.ts"
import { type ExitCode, exitCodes } from "../../terminal/CliFailure.ts"
import { color, json, say, visible } from "../../terminal/Printer.ts"
import { publicJson } from "../../views/publicJson.ts"
import { questionText } from "../../views/questionText.ts"
import { type Answer, answerQuestion } from "./answerQuestion.ts"
import { askInTerminal } from "./askInTerminal.ts"

/** Who answers: somebody at the terminal, nobody (what waits is parked), or a function. */
export type Human = "terminal" | "nobody" | ((question: EscalationView) => Answer)

type Event = SeenEvent["event"]
/** Ends the attendance with this exit code. */
export type Finish = (code: ExitCode) => Effect.Effect<void>

export interface Attended<E, R> {
  /** Of a standalone session its own id. */
  readonly runId: RunId
  readonly human: Human
  readonly json: boolean
  /** ISO time from which events are shown; absent: from the beginning. */
  readonly since?: string
  /** The question that is open already. */
  readonly open?: string
  /** What people are told of an event, if anything. */
  readonly lineOf: (event: Event) => string | undefined
  /** What a human is told when the question stays open: nobody answers, or somebody left it. */
  readonly parked: (escalationId: string) => string
  readonly left: string
  readonly onEvent: (event: Event, finish: Finish) => Effect.Effect<void, E, R>
}

/** Asks the human, and again as long as the answer is refused. */
const askHuman = Effect.fnUntraced(function* <E, R>(
  attended: Attended<E, R>,
  finish: Finish,
  escalationId: string
): Effect.fn.Return<void, unknown, Messenger> {
  const { human, left, parked } = attended
  const question = yield* showQuestion(escalationId)
  if (question.state !== "open") return
  if (human === "nobody") {
    if (!attended.json) say(`${questionText(question, Date.now())}\n\n${parked(escalationId)}`)
    return yield* finish(exitCodes.waiting)
  }
  if (human !== "terminal") return yield* answerQuestion(question, human(question), "demo")
  const reply = yield* askInTerminal(question)
  if (reply._tag === "Left") {
    say(`\n${left}`)
    return yield* finish(reply.how === "interrupt" ? exitCodes.interrupted : exitCodes.waiting)
  }
  const refused = yield* answerQuestion(question, reply.answer, "terminal").pipe(
    Effect.as(undefined),
    Effect.catchTag("CliFailure", (failure) => Effect.succeed(failure))
  )
  if (refused === undefined) return
  say(color.red(visible(refused.message)))
  yield* askHuman(attended, finish, escalationId)
})

const print = <E, R>({ json: asJson, lineOf }: Attended<E, R>, { event, meta }: SeenEvent): void => {
  const line = asJson ? undefined : lineOf(event)
  if (asJson) json(publicJson(event, meta))
  else if (line !== undefined) say(visible(line))
}

export const attend = Effect.fn("attend")(function* <E, R>(attended: Attended<E, R>) {
  const messenger = yield* Messenger
  const finished = yield* Queue.unbounded<ExitCode>()
  const finish: Finish = (code) => Effect.asVoid(Queue.offer(finished, code))
  const asking = yield* FiberHandle.make()
  let asked: string | undefined

  const ask = (escalationId: string) => {
    if (asked === escalationId) return Effect.void
    asked = escalationId
    return FiberHandle.run(
      asking,
      askHuman(attended, finish, escalationId).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("asking failed", cause).pipe(Effect.andThen(finish(exitCodes.missing)))
        )
      )
    )
  }

  const onEvent = Effect.fnUntraced(function* (seen: SeenEvent) {
    const { event } = seen
    print(attended, seen)
    if (event._tag === "EscalationRaised") yield* ask(event.escalationId)
    const closed = event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn"
    // The end of an older question may be told after the next one was raised.
    if (closed && event.escalationId === asked) yield* FiberHandle.clear(asking)
    yield* attended.onEvent(event, finish)
  })

  const { open, runId, since } = attended
  if (open !== undefined) yield* ask(open)
  return yield* messenger
    .events({ runId, from: since === undefined ? "beginning" : { since } })
    .pipe(Stream.runForEach(onEvent), Effect.as(exitCodes.missing), Effect.raceFirst(Queue.take(finished)))
}, Effect.scoped)
