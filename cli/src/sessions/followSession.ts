/** Follows a standalone session: prints its events, asks the human it needs, ends with the exit code that tells how it stands. */
import { Messenger } from "@reprise/actor"
import { type PublicEvent, RunId, type SessionId } from "@reprise/protocol"
import { Deferred, Effect, FiberHandle, Option, Queue, Stream } from "effect"
import { type ExitCode, exitCodes } from "../CliFailure.ts"
import { answerQuestion } from "../gate/answerQuestion.ts"
import { askInTerminal } from "../gate/askInTerminal.ts"
import { color, json, say, visible } from "../Printer.ts"
import { showQuestion } from "../run/showRun.ts"
import { eventLine } from "../show/eventLine.ts"
import { publicJson } from "../show/publicJson.ts"
import { questionText } from "../show/question.ts"

export interface FollowSession {
  /** Somebody at the terminal answers; else the session is parked when a human is needed. */
  readonly terminal: boolean
  readonly json: boolean
  /** ISO time from which events are shown; absent: from the beginning of the session. */
  readonly since?: string
  /** The question that is open already. */
  readonly open?: string
}

const endOf = (event: PublicEvent): ExitCode | undefined => {
  switch (event._tag) {
    case "SessionCompleted":
      return exitCodes.done
    case "SessionFailed":
    case "SessionExpired":
      return exitCodes.runFailed
    case "SessionAborted":
      return exitCodes.aborted
    default:
      return undefined
  }
}

/** How long a session that has ended is waited for to be archived. */
const archiveMs = 5_000

const lineOf = (event: PublicEvent): string | undefined =>
  event._tag === "SessionCompleted" ? "session completed" : eventLine(event)?.replace(/^ {4}/, "")

const print = (event: PublicEvent, meta: { readonly id: string; readonly time: string }, asJson: boolean): void => {
  const line = asJson ? undefined : lineOf(event)
  if (asJson) json(publicJson(event, meta))
  else if (line !== undefined) say(visible(line))
}

/** Gives the exit code, and the agent's last words if it said any. */
export const followSession = Effect.fn("followSession")(function* (sessionId: SessionId, options: FollowSession) {
  const messenger = yield* Messenger
  const finished = yield* Queue.unbounded<ExitCode>()
  const asking = yield* FiberHandle.make()
  const archived = yield* Deferred.make<void>()
  let asked: string | undefined
  let lastWords: string | undefined

  const handle = Effect.fnUntraced(function* (escalationId: string): Effect.fn.Return<void, unknown, Messenger> {
    const question = yield* showQuestion(escalationId)
    if (question.state !== "open") return
    if (!options.terminal) {
      if (!options.json) {
        say(questionText(question, Date.now()))
        say(`\nThe session is parked. Answer with 'reprise gate answer ${escalationId} CHOICE', then start it again.`)
      }
      yield* Queue.offer(finished, exitCodes.waiting)
      return
    }
    const reply = yield* askInTerminal(question)
    if (reply._tag === "Left") {
      say("\nThe question stays open and the session is parked; start it again to go on.")
      yield* Queue.offer(finished, reply.how === "interrupt" ? exitCodes.interrupted : exitCodes.waiting)
      return
    }
    const refused = yield* answerQuestion(question, reply.answer, "terminal").pipe(
      Effect.as(undefined),
      Effect.catchTag("CliFailure", (failure) => Effect.succeed(failure))
    )
    if (refused === undefined) return
    say(color.red(visible(refused.message)))
    yield* handle(escalationId)
  })

  const ask = (escalationId: string) => {
    if (asked === escalationId) return Effect.void
    asked = escalationId
    return FiberHandle.run(
      asking,
      handle(escalationId).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("asking failed", cause).pipe(Effect.andThen(Queue.offer(finished, exitCodes.missing)))
        )
      )
    )
  }

  const end = (code: ExitCode) =>
    Deferred.await(archived).pipe(
      Effect.timeoutOption(archiveMs),
      Effect.andThen(Queue.offer(finished, code)),
      Effect.forkScoped
    )

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent) {
    if (event._tag === "EscalationRaised") yield* ask(event.escalationId)
    if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") {
      if (event.escalationId === asked) yield* FiberHandle.clear(asking)
    }
    if (event._tag === "TurnCompleted") lastWords = event.lastLines
    if (event._tag === "SessionArchived") yield* Deferred.succeed(archived, undefined)
    const code = endOf(event)
    if (code !== undefined) yield* end(code)
  })

  if (options.open !== undefined) yield* ask(options.open)
  const from = options.since === undefined ? ("beginning" as const) : { since: options.since }
  return yield* messenger.events({ runId: RunId.make(sessionId), from }).pipe(
    Stream.mapEffect(({ event, meta }) =>
      Effect.suspend(() => {
        print(event, meta, options.json)
        return onEvent(event)
      })
    ),
    Stream.runDrain,
    Effect.as(Option.none<ExitCode>()),
    Effect.raceFirst(Queue.take(finished).pipe(Effect.map(Option.some))),
    Effect.map((code) => ({
      code: Option.getOrElse(code, (): ExitCode => exitCodes.missing),
      ...(lastWords === undefined ? {} : { lastWords })
    }))
  )
}, Effect.scoped)
