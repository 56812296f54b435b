/** Follows a standalone session to its end, or until it is parked. */
import { defined, type PublicEvent, type PublicEventType, RunId, type SessionId } from "@reprise/protocol"
import { Deferred, Effect } from "effect"
import { type ExitCode, exitCodes } from "../../terminal/exitCodes.ts"
import { eventLine } from "../../views/eventLine.ts"
import { type Finish, followEvents } from "../gate/followEvents.ts"

export interface FollowSession {
  /** A human at the terminal answers; otherwise the session is parked when it needs one. */
  readonly terminal: boolean
  readonly json: boolean
  /** The command that continues a parked session. */
  readonly again: string
  /** ISO time from which events are shown; absent: from the beginning of the session. */
  readonly since?: string
  /** The question that is open already. */
  readonly openQuestion?: string
}

/** The events with which a session ends, and the exit code of each. */
const endings: { readonly [Type in PublicEventType]?: ExitCode } = {
  SessionCompleted: exitCodes.done,
  SessionFailed: exitCodes.runFailed,
  SessionExpired: exitCodes.runFailed,
  SessionAborted: exitCodes.aborted
}

/** How long to wait for the archive of an ended session. */
const archiveMs = 30_000

const lineOf = (event: PublicEvent): string | undefined =>
  event._tag === "SessionCompleted" ? "Session completed" : eventLine(event)?.replace(/^ {4}/, "")

/** Returns the exit code and the agent's last lines, if it wrote any. */
export const followSession = Effect.fn("followSession")(function* (
  sessionId: SessionId,
  { again, terminal, ...options }: FollowSession
) {
  const archived = yield* Deferred.make<void>()
  let lastLines: string | undefined
  // A session that was never opened has nothing to archive.
  let wasOpened = options.since !== undefined

  const onEvent = Effect.fnUntraced(function* (event: PublicEvent, finish: Finish) {
    if (event._tag === "SessionCreated") wasOpened = true
    if (event._tag === "TurnCompleted") lastLines = event.lastLines
    if (event._tag === "SessionArchived") yield* Deferred.succeed(archived, undefined)
    const code = endings[event._tag]
    if (code === undefined) return
    if (!wasOpened) return yield* finish(code)
    const untilArchived = Deferred.await(archived).pipe(Effect.timeoutOption(archiveMs))
    yield* Effect.forkScoped(Effect.andThen(untilArchived, finish(code)))
  })

  const code = yield* followEvents({
    ...options,
    runId: RunId.make(sessionId),
    answerer: terminal ? "terminal" : "nobody",
    lineOf,
    parked: (escalationId) =>
      `Session parked. Answer: reprise gate answer ${escalationId} CHOICE. Then repeat '${again}'.`,
    closed: `Session parked; the question stays open. Repeat '${again}' to continue.`,
    onEvent
  })
  return { code, ...defined({ lastLines }) }
})
