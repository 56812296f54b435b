/**
 * Auto-resume, the eyes: watches every live session of this host and tells its actor when somebody else than us makes
 * its agent work, and when the agent is idle again (sessions: Auto-resume). Only transitions are told.
 */
import { ActorConfig, Messenger } from "@reprise/actor"
import { type AgentRuntimeShape, AgentRuntimes, type RuntimeEvent } from "@reprise/agent"
import { Key, type PublicEvent, SessionView } from "@reprise/protocol"
import { Clock, Effect, FiberMap, Result, Schedule, Schema, Stream } from "effect"
import { attribute } from "../domain/attribute.ts"
import type { SessionReport } from "../domain/messages.ts"
import type { SessionSettings } from "../domain/settings.ts"
import { LiveTurns } from "../LiveTurns.ts"
import { optionsOf } from "../worker/promptOptions.ts"
import { endsForeignWork, type Watched, WatchedSessions } from "./WatchedSessions.ts"

const readView = Schema.decodeUnknownResult(SessionView)
const over = new Set<SessionView["status"]>(["expired", "completed", "aborted", "failed"])
const followed: ReadonlyArray<PublicEvent["_tag"]> = [
  "SessionCreated",
  "SessionReused",
  "SessionReplaced",
  "SessionExpired",
  "SessionCompleted",
  "SessionAborted",
  "SessionFailed",
  "TurnStarted",
  "TurnCompleted",
  "TurnFailed"
]

export const watchActivity = Effect.fnUntraced(function* ({ idleGraceMs }: Pick<SessionSettings, "idleGraceMs">) {
  const messenger = yield* Messenger
  const runtimes = yield* AgentRuntimes
  const live = yield* LiveTurns
  const { host } = yield* ActorConfig
  const sessions = new WatchedSessions()
  /** When each session whose agent works by itself was last seen to. */
  const busySince = new Map<string, number>()
  const idleChecks = yield* FiberMap.make<string>()

  const notTold = (error: { readonly message: string }) => Effect.logWarning(`activity was not told: ${error.message}`)
  const send = (session: Watched, report: SessionReport) =>
    messenger.send("session-manager", Key.make(session.key), report)

  /** Best effort: what is not told now is told at the next transition. */
  const tell = (session: Watched, report: SessionReport) => Effect.catch(send(session, report), notTold)

  /** After this no transition is sure to come: told until it is heard, or the agent works again. */
  const tellIdle = (session: Watched) =>
    send(session, { _tag: "ReportIdle" }).pipe(
      Effect.retry({
        schedule: Schedule.spaced("1 second"),
        while: () => !busySince.has(session.runtimeSessionId)
      }),
      Effect.catch(notTold)
    )

  /** One check at a time for each session; a sign of life in the meantime starts the grace anew. */
  const untilIdle = Effect.fnUntraced(function* (runtime: AgentRuntimeShape, session: Watched) {
    const id = session.runtimeSessionId
    while (busySince.has(id)) {
      const seenMs = busySince.get(id)
      yield* Effect.sleep(`${idleGraceMs} millis`)
      if (busySince.get(id) !== seenMs) continue
      const found = yield* Effect.result(runtime.inspect(id))
      if (Result.isFailure(found)) continue
      const { state } = found.success
      if (state._tag !== "idle" && state._tag !== "empty" && state._tag !== "missing") continue
      busySince.delete(id)
      // Seen to work again while this is told, it is this check that goes on: no other is begun beside it.
      if (!session.inTurn) yield* tellIdle(session)
    }
  })

  const active = Effect.fnUntraced(function* (
    runtime: AgentRuntimeShape,
    session: Watched,
    seen: { readonly causePromptId?: string; readonly evidence: string }
  ) {
    const id = session.runtimeSessionId
    if (session.inTurn) return
    const now = yield* Clock.currentTimeMillis
    const endedMs = live.lastEndedAt(id)
    const cause = attribute({
      ...(seen.causePromptId === undefined ? {} : { causePromptId: seen.causePromptId }),
      causeIsOurs: seen.causePromptId !== undefined && live.isOurs(seen.causePromptId),
      live: live.isLive(id),
      ...(endedMs === undefined ? {} : { msSinceOurs: now - endedMs })
    })
    if (cause !== "human" && cause !== "agent") return
    const isNew = !busySince.has(id)
    busySince.set(id, now)
    if (!isNew) return
    yield* tell(session, { _tag: "ReportActivity", cause, evidence: seen.evidence })
    yield* FiberMap.run(idleChecks, id, untilIdle(runtime, session), { onlyIfMissing: true })
  })

  const observe = Effect.fnUntraced(function* (runtime: AgentRuntimeShape, event: RuntimeEvent) {
    const session = sessions.get(event.sessionId)
    if (session === undefined) return
    if (event.type === "working") {
      const { causePromptId, evidence } = event
      yield* active(runtime, session, { evidence, ...(causePromptId === undefined ? {} : { causePromptId }) })
    }
    // Within a turn of ours its worker tells of these.
    if (event.type === "prompting" && !session.inTurn && busySince.has(event.sessionId)) {
      const { kind, promptId, text } = event
      yield* tell(session, { _tag: "RecordPrompting", promptId, kind, text, options: optionsOf(event) })
    }
    if (event.type === "replied" && !session.inTurn) {
      yield* tell(session, { _tag: "RecordPromptGone", promptId: event.promptId })
    }
  })

  /** Begins to watch a session, and looks at once whether somebody is at work in it, or still is. */
  const begin = Effect.fnUntraced(function* (view: SessionView) {
    const { directory, heldBy, lastPromptId, runtimeSessionId, sessionId } = view
    if (view.host !== host || over.has(view.status) || runtimeSessionId === undefined) return
    if (lastPromptId !== undefined)
      yield* live.remember(lastPromptId, runtimeSessionId, Date.parse(view.lastActivityAt))
    const session: Watched = { key: sessionId, runtimeSessionId, directory, inTurn: view.turnId !== undefined }
    sessions.add(session)
    if (session.inTurn) return
    const runtime = yield* runtimes.get(view.runtime)
    // Its end may have come while nobody watched.
    if (heldBy === "agent") {
      busySince.set(runtimeSessionId, yield* Clock.currentTimeMillis)
      return yield* FiberMap.run(idleChecks, runtimeSessionId, untilIdle(runtime, session), { onlyIfMissing: true })
    }
    const { lastMessage, state } = yield* runtime.inspect(runtimeSessionId)
    if (state._tag !== "busy") return
    const cause = lastMessage?.role === "user" ? lastMessage.id : lastMessage?.causePromptId
    yield* active(runtime, session, { evidence: "busy", ...(cause === undefined ? {} : { causePromptId: cause }) })
  })

  const beginQuietly = (found: unknown) => {
    const view = readView(found)
    return Result.isFailure(view)
      ? Effect.logWarning(`a session cannot be watched: ${view.failure.message}`)
      : begin(view.success).pipe(Effect.catch((error) => Effect.logInfo(`not watched yet: ${error.message}`)))
  }

  /** A turn of ours takes over, or the session is no more: what is seen after that is told anew, or not at all. */
  const startOver = Effect.fnUntraced(function* (event: PublicEvent, session: Watched | undefined) {
    if (session === undefined || !endsForeignWork(event)) return
    busySince.delete(session.runtimeSessionId)
    yield* FiberMap.remove(idleChecks, session.runtimeSessionId)
  })

  const lookUp = (event: PublicEvent) =>
    sessions.note(event) && event.sessionId !== undefined
      ? messenger.query("session-manager", "show", { id: event.sessionId }).pipe(
          Effect.flatMap(beginQuietly),
          Effect.catch((error) => Effect.logWarning(`a session cannot be watched: ${error.message}`))
        )
      : Effect.void

  const follow = messenger.events({ services: ["session-manager"], types: followed, from: "now" }).pipe(
    Stream.runForEach(({ event }) =>
      Effect.suspend(() => {
        const before = event.sessionId === undefined ? undefined : sessions.find(event.sessionId)
        return Effect.andThen(lookUp(event), startOver(event, before))
      })
    )
  )

  const listed = messenger
    .query("session-manager", "list", {})
    .pipe(Effect.flatMap((views) => Effect.forEach(Array.isArray(views) ? views : [], beginQuietly, { discard: true })))

  for (const name of runtimes.names) {
    const runtime = yield* runtimes.get(name)
    yield* Effect.forkScoped(Stream.runForEach(runtime.events, (event) => observe(runtime, event)))
  }
  // Followed first and listed meanwhile: a session that is made in between is seen by one of the two.
  yield* Effect.all([follow, listed], { concurrency: 2, discard: true }).pipe(
    Effect.tapError((error) => Effect.logInfo(`sessions are not watched yet: ${error.message}`)),
    Effect.retry({ schedule: Schedule.spaced("1 second") }),
    Effect.forkScoped
  )
})
