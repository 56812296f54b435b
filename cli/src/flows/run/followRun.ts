/** Follows one run: prints its events, asks the human it needs, ends with the exit code that tells how it stands. */
import { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { type PublicEvent, type RunId, SessionView, subjects } from "@reprise/protocol"
import { Deferred, Effect, Schedule, Stream } from "effect"
import { listOf } from "../../system/clientSystem.ts"
import { awaitsArchive } from "../../system/findSession.ts"
import { showRun } from "../../system/showRun.ts"
import { type ExitCode, exitCodes } from "../../terminal/CliFailure.ts"
import { json } from "../../terminal/Printer.ts"
import { eventLine } from "../../views/eventLine.ts"
import { publicJson } from "../../views/publicJson.ts"
import { attend, type Finish, type Human } from "../gate/attend.ts"

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

/** A program that follows from now on is told of the question that is open already, in the event that raised it. */
const tellRaised = Effect.fnUntraced(function* (runId: RunId, escalationId: string) {
  const broker = yield* Broker
  const messenger = yield* Messenger
  const { prefix } = yield* ActorConfig
  const raised = subjects(prefix).events("gate", runId, "EscalationRaised")
  const last = (yield* broker.last("events", raised))?.sequence
  if (last === undefined) return
  yield* messenger.events({ runId, services: ["gate"], types: ["EscalationRaised"], from: "beginning" }).pipe(
    Stream.takeUntil(({ sequence }) => sequence >= last),
    Stream.filter(({ event }) => event._tag === "EscalationRaised" && event.escalationId === escalationId),
    Stream.runForEach(({ event, meta }) => Effect.sync(() => json(publicJson(event, meta))))
  )
})

const openQuestion = Effect.fnUntraced(function* (runId: RunId, asJson: boolean) {
  const { escalationId, status } = yield* showRun(runId)
  if (escalationId === undefined || status !== "waiting") return {}
  if (asJson) yield* tellRaised(runId, escalationId)
  return { open: escalationId }
})

/** Runs until the run ends and has let go of its workspace, or is parked or paused; gives the exit code. */
export const follow = Effect.fn("follow")(function* (runId: RunId, options: FollowOptions) {
  const released = yield* Deferred.make<void>()
  const letGo = Effect.gen(function* () {
    const { directory } = yield* showRun(runId)
    if (directory !== undefined) yield* Deferred.await(released).pipe(Effect.timeoutOption(releaseMs))
    yield* untilArchived(runId).pipe(Effect.timeoutOption(releaseMs))
  })

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent, finish: Finish) {
    const code = ended(event)
    if (code === exitCodes.waiting) yield* finish(code)
    else if (code !== undefined) yield* Effect.forkScoped(Effect.andThen(Effect.exit(letGo), finish(code)))
    if (event._tag === "WorkspaceReleased") yield* Deferred.succeed(released, undefined)
  })

  return yield* attend({
    ...options,
    ...(options.since === undefined ? {} : yield* openQuestion(runId, options.json)),
    runId,
    lineOf: eventLine,
    parked: (escalationId) =>
      `The run is parked. Answer with 'reprise gate answer ${escalationId} CHOICE', then run again; under 'reprise up' it goes on by itself.`,
    left: "The question stays open and the run is parked; run again to go on. Under 'reprise up' it goes on when it is answered.",
    onEvent
  })
})
