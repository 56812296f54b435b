/** `reprise gate`: the open questions of every run, one after the other, live, until left with Ctrl-C. */
import { Messenger } from "@reprise/actor"
import { Cause, Effect, Exit, Fiber, FiberHandle, type Option, Queue, Stream } from "effect"
import { withLasting } from "../../system/clientSystem.ts"
import { showQuestion } from "../../system/showRun.ts"
import { exitCodes, exitWith, wrongUse } from "../../terminal/CliFailure.ts"
import { color, say, visible } from "../../terminal/Printer.ts"
import { answerQuestion } from "./answerQuestion.ts"
import { askInTerminal } from "./askInTerminal.ts"
import { listQuestions, openQuestions } from "./listQuestions.ts"

const session = Effect.gen(function* () {
  const messenger = yield* Messenger
  const waiting = yield* Queue.unbounded<string>()
  const asking = yield* FiberHandle.make<boolean, unknown>()
  const closed = new Set<string>()
  let current: string | undefined
  const since = new Date(Date.now() - 1000).toISOString()
  const known = new Set<string>()
  const enqueue = (id: string) => {
    if (known.has(id)) return Effect.void
    known.add(id)
    return Queue.offer(waiting, id).pipe(Effect.asVoid)
  }

  yield* messenger.events({ services: ["gate"], from: { since } }).pipe(
    Stream.runForEach(({ event }) => {
      if (event._tag === "EscalationRaised") return enqueue(event.escalationId)
      if (event._tag !== "EscalationAnswered" && event._tag !== "EscalationWithdrawn") return Effect.void
      closed.add(event.escalationId)
      if (event.escalationId !== current) return Effect.void
      const how =
        event._tag === "EscalationAnswered" ? `answered ${event.choice} by ${event.by}` : `withdrawn: ${event.reason}`
      say(color.dim(`\n${event.escalationId} ${visible(how)}`))
      return FiberHandle.clear(asking)
    }),
    Effect.forkScoped
  )
  for (const question of yield* openQuestions) yield* enqueue(question.escalationId)
  say(color.dim("Waiting for questions; Ctrl-C leaves."))

  /** True: leave. */
  const ask = Effect.fnUntraced(function* (id: string): Effect.fn.Return<boolean, unknown, Messenger> {
    const question = yield* showQuestion(id)
    if (question.state !== "open" || closed.has(id)) return false
    const reply = yield* askInTerminal(question)
    if (reply._tag === "Left") return true
    const refused = yield* answerQuestion(question, reply.answer, "terminal").pipe(
      Effect.as(undefined),
      Effect.catchTag("CliFailure", (failure) => Effect.succeed(failure))
    )
    if (refused === undefined) return false
    say(color.red(visible(refused.message)))
    return yield* ask(id)
  })

  while (true) {
    current = yield* Queue.take(waiting)
    // Interrupted when somebody else has answered it.
    const outcome = yield* Fiber.await(yield* FiberHandle.run(asking, ask(current)))
    current = undefined
    if (Exit.isSuccess(outcome) ? outcome.value : !Cause.hasInterruptsOnly(outcome.cause)) return yield* outcome
  }
})

export const gateSession = Effect.fn("gateSession")(function* (flags: {
  readonly json: boolean
  readonly nats: Option.Option<string>
}) {
  if (flags.json) return yield* listQuestions(flags)
  if (process.stdin.isTTY !== true) {
    return yield* wrongUse(
      "no-terminal",
      "'reprise gate' needs a terminal.",
      "Use 'reprise gate list', 'show' and 'answer' in scripts."
    )
  }
  yield* withLasting(flags, Effect.scoped(session))
  return yield* exitWith(exitCodes.done)
})
