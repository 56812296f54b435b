/** Follows a standalone session: prints its events, asks the human it needs, ends with the exit code that tells how it stands. */
import { type PublicEvent, RunId, type SessionId } from "@reprise/protocol"
import { Deferred, Effect } from "effect"
import { type ExitCode, exitCodes } from "../../terminal/CliFailure.ts"
import { eventLine } from "../../views/eventLine.ts"
import { attend, type Finish } from "../gate/attend.ts"

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

/** Gives the exit code, and the agent's last words if it said any. */
export const followSession = Effect.fn("followSession")(function* (
  sessionId: SessionId,
  { terminal, ...options }: FollowSession
) {
  const archived = yield* Deferred.make<void>()
  let lastWords: string | undefined

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent, finish: Finish) {
    if (event._tag === "TurnCompleted") lastWords = event.lastLines
    if (event._tag === "SessionArchived") yield* Deferred.succeed(archived, undefined)
    const code = endOf(event)
    if (code === undefined) return
    const inTime = Deferred.await(archived).pipe(Effect.timeoutOption(archiveMs))
    yield* Effect.forkScoped(Effect.andThen(inTime, finish(code)))
  })

  const code = yield* attend({
    ...options,
    runId: RunId.make(sessionId),
    human: terminal ? "terminal" : "nobody",
    lineOf,
    parked: (escalationId) =>
      `The session is parked. Answer with 'reprise gate answer ${escalationId} CHOICE', then start it again.`,
    left: "The question stays open and the session is parked; start it again to go on.",
    onEvent
  })
  return { code, ...(lastWords === undefined ? {} : { lastWords }) }
})
