/** Follows one run: prints its events, asks the human it needs, ends with the exit code that tells how it stands. */
import { type PublicEvent, type RunId, SessionView } from "@reprise/protocol"
import { Deferred, Effect, Schedule } from "effect"
import { type ExitCode, exitCodes } from "../CliFailure.ts"
import { attend, type Finish, type Human } from "../gate/attend.ts"
import { awaitsArchive } from "../sessions/findSession.ts"
import { eventLine } from "../show/eventLine.ts"
import { listOf } from "../system/reading.ts"
import { showRun } from "./showRun.ts"

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

const openQuestion = Effect.fnUntraced(function* (runId: RunId) {
  const { escalationId, status } = yield* showRun(runId)
  return escalationId === undefined || status !== "waiting" ? {} : { open: escalationId }
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
    ...(options.since === undefined ? {} : yield* openQuestion(runId)),
    runId,
    lineOf: eventLine,
    parked: (escalationId) =>
      `The run is parked. Answer with 'reprise gate answer ${escalationId} CHOICE', then run again; under 'reprise up' it goes on by itself.`,
    left: "The question stays open and the run is parked; run again to go on. Under 'reprise up' it goes on when it is answered.",
    onEvent
  })
})
