/** `reprise gate`: the open questions of every run, one after the other, live, until Ctrl-C. */
import { Messenger } from "@reprise/actor"
import type { PublicEvent } from "@reprise/protocol"
import { Cause, Effect, Exit, Fiber, FiberHandle, Queue, Stream } from "effect"
import { type ClientFlags, withLastingClient } from "../../system/clientSystem.ts"
import { exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { exitCodes } from "../../terminal/exitCodes.ts"
import { hasFullScreen, PlainQuestions } from "../../terminal/fullScreen.ts"
import { color, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { overruledText } from "../../views/eventLine.ts"
import { answerAllOnScreen, closedHow } from "./answerAllOnScreen.ts"
import { answerInTerminal } from "./answerInTerminal.ts"
import type { Closed } from "./askInTerminal.ts"
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

const onEvent = (session: Session, event: PublicEvent) => {
  if (event._tag === "EscalationRaised") return session.add(event.escalationId)
  if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") {
    return session.close(event.escalationId, closedHow(event))
  }
  if (event._tag === "EscalationOverruled") return Effect.sync(() => say(color.yellow(visible(overruledText(event)))))
  return Effect.void
}

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
  const all = (yield* hasFullScreen) ? answerAllOnScreen(true) : answerAll
  yield* withLastingClient(flags, Effect.scoped(all), true)
  return yield* exitWith(exitCodes.done)
})
