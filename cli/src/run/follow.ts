/** Follows one run: prints its events, asks the human it needs, ends with the exit code that tells how it stands. */
import { Messenger } from "@reprise/actor"
import { type EscalationView, type PublicEvent, type RunId, SessionView } from "@reprise/protocol"
import { Deferred, Effect, FiberHandle, Option, Queue, Schedule, Stream } from "effect"
import { type ExitCode, exitCodes } from "../CliFailure.ts"
import { type Answer, answerQuestion } from "../gate/answerQuestion.ts"
import { askInTerminal } from "../gate/askInTerminal.ts"
import { color, json, say, visible } from "../Printer.ts"
import { awaitsArchive } from "../sessions/findSession.ts"
import { eventLine } from "../show/eventLine.ts"
import { publicJson } from "../show/publicJson.ts"
import { questionText } from "../show/question.ts"
import { listOf } from "../system/reading.ts"
import { showQuestion, showRun } from "./showRun.ts"

/** Who answers: somebody at the terminal, nobody (the run is parked), or a function. */
export type Human = "terminal" | "nobody" | ((question: EscalationView) => Answer)

export interface FollowOptions {
  readonly human: Human
  readonly json: boolean
  /** ISO time from which events are shown; absent: from the beginning of the run. */
  readonly since?: string
}

const ended = (event: PublicEvent): ExitCode | undefined => {
  switch (event._tag) {
    case "RunCompleted":
      return exitCodes.done
    case "RunFailed":
      return exitCodes.runFailed
    case "RunAborted":
      return exitCodes.aborted
    case "RunPaused":
      return exitCodes.waiting
    default:
      return undefined
  }
}

/** How long a run that has ended is waited for to give its workspace back: a lease, maybe a worktree. */
const releaseMs = 5_000

/** Until the conversations of its ended sessions are in the archive. */
const untilArchived = (runId: RunId) =>
  listOf("session-manager", SessionView).pipe(
    Effect.repeat({
      while: (sessions) => sessions.some((session) => session.runId === runId && awaitsArchive(session)),
      schedule: Schedule.spaced("50 millis")
    })
  )

/** Runs until the run ends and has let go of its workspace, or is parked or paused; gives the exit code. */
export const follow = Effect.fn("follow")(function* (runId: RunId, options: FollowOptions) {
  const messenger = yield* Messenger
  const finished = yield* Queue.unbounded<ExitCode>()
  const question = yield* FiberHandle.make()
  let asked: string | undefined

  const handle = Effect.fnUntraced(function* (escalationId: string): Effect.fn.Return<void, unknown, Messenger> {
    const open = yield* showQuestion(escalationId)
    if (open.state !== "open") return
    const { human } = options
    if (human === "nobody") {
      if (!options.json) say(questionText(open, Date.now()))
      if (!options.json)
        say(
          `\nThe run is parked. Answer with 'reprise gate answer ${escalationId} CHOICE', then run again; under 'reprise up' it goes on by itself.`
        )
      yield* Queue.offer(finished, exitCodes.waiting)
      return
    }
    if (human !== "terminal") {
      yield* answerQuestion(open, human(open), "demo")
      return
    }
    const reply = yield* askInTerminal(open)
    if (reply._tag === "Left") {
      say(
        "\nThe question stays open and the run is parked; run again to go on. Under 'reprise up' it goes on when it is answered."
      )
      yield* Queue.offer(finished, reply.how === "interrupt" ? exitCodes.interrupted : exitCodes.waiting)
      return
    }
    const accepted = yield* answerQuestion(open, reply.answer, "terminal").pipe(
      Effect.as(true),
      Effect.catchTag("CliFailure", (refused) =>
        Effect.sync(() => say(color.red(visible(refused.message)))).pipe(Effect.as(false))
      )
    )
    if (!accepted) yield* handle(escalationId)
  })

  const ask = (escalationId: string) => {
    if (asked === escalationId) return Effect.void
    asked = escalationId
    return FiberHandle.run(
      question,
      handle(escalationId).pipe(
        Effect.catchCause((cause) =>
          Effect.logError("asking failed", cause).pipe(Effect.andThen(Queue.offer(finished, exitCodes.missing)))
        )
      )
    )
  }

  const released = yield* Deferred.make<void>()
  const letGo = Effect.gen(function* () {
    const { directory } = yield* showRun(runId)
    if (directory !== undefined) yield* Deferred.await(released).pipe(Effect.timeoutOption(releaseMs))
    yield* untilArchived(runId).pipe(Effect.timeoutOption(releaseMs))
  })
  const end = (code: ExitCode) => Effect.exit(letGo).pipe(Effect.andThen(Queue.offer(finished, code)))

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent) {
    if (event._tag === "EscalationRaised") yield* ask(event.escalationId)
    if (event._tag === "EscalationAnswered" || event._tag === "EscalationWithdrawn") yield* FiberHandle.clear(question)
    const code = ended(event)
    if (code !== undefined)
      yield* code === exitCodes.waiting ? Queue.offer(finished, code) : Effect.forkScoped(end(code))
    if (event._tag === "WorkspaceReleased") yield* Deferred.succeed(released, undefined)
  })

  if (options.since !== undefined) {
    const run = yield* showRun(runId)
    if (run.escalationId !== undefined && run.status === "waiting") yield* ask(run.escalationId)
  }
  const events = messenger.events({
    runId,
    from: options.since === undefined ? "beginning" : { since: options.since }
  })
  return yield* events.pipe(
    Stream.mapEffect(({ event, meta }) =>
      Effect.suspend(() => {
        print(event, meta, options.json)
        return onEvent(event)
      })
    ),
    Stream.runDrain,
    Effect.as(Option.none<ExitCode>()),
    Effect.raceFirst(Queue.take(finished).pipe(Effect.map(Option.some))),
    Effect.map(Option.getOrElse(() => exitCodes.missing as ExitCode))
  )
}, Effect.scoped)

const print = (event: PublicEvent, meta: { id: string; time: string }, asJson: boolean): void => {
  const line = asJson ? undefined : eventLine(event)
  if (asJson) json(publicJson(event, meta))
  else if (line !== undefined) say(visible(line))
}
