/** `reprise gate`: the open questions of every run, one after the other, live, until Ctrl-C. */
import { Messenger } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { Cause, Effect, Exit, Fiber, FiberHandle, Queue, Stream } from "effect"
import { type ClientFlags, withLastingClient } from "../../system/clientSystem.ts"
import { findQuestion } from "../../system/lookUp.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { hasFullScreen, PlainQuestions } from "../../terminal/fullScreen.ts"
import { color, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { overruledText, withdrawalText } from "../../views/eventLine.ts"
import type { GateInput } from "../../views/gate/GateModel.ts"
import { answerInTerminal } from "./answerInTerminal.ts"
import type { Closed } from "./askInTerminal.ts"
import { loadScreen } from "./loadScreen.ts"
import { listQuestions, openQuestions } from "./questions.ts"

/** The questions of this session: those still to be asked, and the one at the terminal now. */
const makeSession = Effect.gen(function* () {
  const waiting = yield* Queue.unbounded<string>()
  const asking = yield* FiberHandle.make<Closed | undefined, unknown>()
  const known = new Set<string>()
  const closed = new Set<string>()
  let current: string | undefined

  const add = (id: string) => {
    if (known.has(id)) return Effect.void
    known.add(id)
    return Effect.asVoid(Queue.offer(waiting, id))
  }

  const close = (id: string, how: string) => {
    closed.add(id)
    if (id !== current) return Effect.void
    say(color.dim(`\n${id} ${visible(how)}`))
    return FiberHandle.clear(asking)
  }

  /** Returns how the human closed the prompt; undefined if the question was closed, here or elsewhere. */
  const askNext = Effect.gen(function* () {
    const id = yield* Queue.take(waiting)
    current = id
    const outcome = yield* Fiber.await(
      yield* FiberHandle.run(
        asking,
        answerInTerminal(id, () => !closed.has(id))
      )
    )
    current = undefined
    if (Exit.isFailure(outcome) && Cause.hasInterruptsOnly(outcome.cause)) return undefined
    return yield* outcome
  })

  return { add, askNext, close }
})

type Session = Effect.Success<typeof makeSession>

const closedHow = (event: Extract<PublicEvent, { _tag: "EscalationAnswered" | "EscalationWithdrawn" }>): string =>
  event._tag === "EscalationAnswered"
    ? `was answered by ${event.by}: ${event.choice}`
    : `is closed: ${withdrawalText(event.reason)}`

const onEvent = (session: Session, event: PublicEvent) => {
  if (event._tag === "EscalationRaised") return session.add(event.escalationId)
  if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") {
    return session.close(event.escalationId, closedHow(event))
  }
  if (event._tag === "EscalationOverruled") return Effect.sync(() => say(color.yellow(visible(overruledText(event)))))
  return Effect.void
}

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

/** All questions on the full screen, until the human leaves. */
const answerAllOnScreen = Effect.gen(function* () {
  const { runScreen } = yield* loadScreen
  const messenger = yield* Messenger
  const since = new Date(Date.now() - 1000).toISOString()
  yield* runScreen({
    questions: yield* openQuestions,
    stays: true,
    listen: (offer) =>
      messenger
        .events({ services: ["gate"], from: { since } })
        .pipe(Stream.runForEach(({ event }) => tellScreen(event, offer)))
  })
})

const answerAll = Effect.gen(function* () {
  const messenger = yield* Messenger
  const session = yield* makeSession
  const since = new Date(Date.now() - 1000).toISOString()
  yield* messenger.events({ services: ["gate"], from: { since } }).pipe(
    Stream.runForEach(({ event }) => onEvent(session, event)),
    Effect.forkScoped
  )
  for (const { escalationId } of yield* openQuestions) yield* session.add(escalationId)
  say(color.dim("Waiting for questions; Ctrl-C leaves."))
  while ((yield* session.askNext) === undefined);
})

interface Flags extends ClientFlags {
  readonly plain: boolean
}

export const gateSession = (flags: Flags) => Effect.provideService(answerAt(flags), PlainQuestions, flags.plain)

const answerAt = Effect.fn("gateSession")(function* (flags: ClientFlags) {
  if (flags.json) return yield* listQuestions(flags)
  if (process.stdin.isTTY !== true) {
    return yield* wrongUse(
      "no-terminal",
      "'reprise gate' needs a terminal.",
      "In scripts use 'reprise gate list', 'show' and 'answer'."
    )
  }
  const all = (yield* hasFullScreen) ? answerAllOnScreen : answerAll
  yield* withLastingClient(flags, Effect.scoped(all), true)
  return yield* exitWith(exitCodes.done)
})
