/**
 * The watch over this host's live sessions: reports to their actors when somebody else than us makes the agent work,
 * and when it is idle again (docs/design/sessions.md#auto-resume). Only transitions are reported.
 */
import { ActorConfig, Broker, Messenger, type QueryFailed } from "@reprise/actor"
import {
  type AgentError,
  type AgentRuntimeShape,
  AgentRuntimes,
  type Inspection,
  type RuntimeEvent
} from "@reprise/agent"
import { defined, type Host, type SessionId, SessionsAtWork, type SessionView, subjects } from "@reprise/protocol"
import { Clock, type Context, Deferred, Duration, Effect, FiberMap, Result, Schedule, Schema, Stream } from "effect"
import { attribute, graceLeft } from "../agent/activity.ts"
import type { SessionReport } from "../session/inputs.ts"
import { isEnded } from "../session/state.ts"
import type { SessionSettings } from "../settings.ts"
import { HandBacks } from "./HandBacks.ts"
import { agentQuestion } from "./lastOutput.ts"
import { OwnPrompts } from "./OwnPrompts.ts"
import { lookAgain, refusedReport, toSession } from "./report.ts"
import { isAtRest, newestPromptIn } from "./runtimeSession.ts"
import {
  endsWorkOfOthers,
  type FollowedEvent,
  followedTypes,
  isFollowed,
  isWorkOfOthers,
  type LookUp,
  type Watched,
  WatchedSessions
} from "./WatchedSessions.ts"

interface Watch {
  readonly host: Host
  readonly idleGrace: Duration.Duration
  readonly messenger: Context.Service.Shape<typeof Messenger>
  readonly ownPrompts: Context.Service.Shape<typeof OwnPrompts>
  readonly runtimes: Context.Service.Shape<typeof AgentRuntimes>
  readonly sessions: WatchedSessions
  /** One check per session that is busy. */
  readonly idleChecks: FiberMap.FiberMap<string>
  /** One for each session that could not be looked up at once. */
  readonly lookUps: FiberMap.FiberMap<string, void, never>
}

const logUnreported = (error: { readonly message: string }) =>
  Effect.logWarning(`activity was not reported: ${error.message}`)

const send = ({ messenger }: Watch, session: Watched, report: SessionReport) =>
  messenger.send(toSession(session.key, report))

/** Best effort: the next transition is reported whether this one was or not. */
const tell = (watch: Watch, session: Watched, report: SessionReport) =>
  Effect.catch(send(watch, session, report), logUnreported)

/** No later transition is certain after this one: it is sent until it arrives, or the agent works again. */
const tellIdle = (watch: Watch, session: Watched, inspected: Inspection) => {
  const promptId = newestPromptIn(inspected)
  const idle = { _tag: "ReportIdle", total: inspected.usage, ...defined({ promptId }) } as const
  return send(watch, session, idle).pipe(
    Effect.retry({
      schedule: Schedule.spaced("1 second"),
      while: () => !watch.sessions.isBusy(session.runtimeSessionId)
    }),
    Effect.catch(logUnreported)
  )
}

/**
 * When the grace has passed since the newest activity, the runtime is asked whether the agent is idle. One that works
 * without a sign of it is active now.
 */
const checkIdleOnce = Effect.fnUntraced(function* (watch: Watch, runtime: AgentRuntimeShape, session: Watched) {
  const id = session.runtimeSessionId
  const { sessions } = watch
  const seenMs = sessions.busySinceMs(id)
  if (seenMs === undefined) return
  const now = yield* Clock.currentTimeMillis
  yield* Effect.sleep(graceLeft(seenMs, now, watch.idleGrace))
  if (sessions.busySinceMs(id) !== seenMs) return
  const inspected = yield* Effect.result(runtime.inspect(id))
  if (sessions.busySinceMs(id) !== seenMs) return
  if (Result.isFailure(inspected) || !isAtRest(inspected.success.state)) {
    return sessions.markBusy(id, yield* Clock.currentTimeMillis)
  }
  sessions.markIdle(id)
  if (!session.inTurn) yield* tellIdle(watch, session, inspected.success)
})

/** Checks until the agent is idle. If it works again while that is reported, the same check goes on. */
const checkIdle = (watch: Watch, runtime: AgentRuntimeShape, session: Watched) => {
  const id = session.runtimeSessionId
  const check = Effect.repeat(checkIdleOnce(watch, runtime, session), { while: () => watch.sessions.isBusy(id) })
  return FiberMap.run(watch.idleChecks, id, check, { onlyIfMissing: true })
}

/** A human has left a session: its agent counts as idle as soon as it stops working. */
const handedBack = Effect.fnUntraced(function* (watch: Watch, key: string) {
  const { idleChecks, idleGrace, sessions } = watch
  const session = sessions.find(key)
  if (session === undefined || !sessions.isBusy(session.runtimeSessionId)) return
  const runtime = yield* watch.runtimes.get(session.runtime)
  sessions.markBusy(session.runtimeSessionId, (yield* Clock.currentTimeMillis) - Duration.toMillis(idleGrace))
  yield* FiberMap.remove(idleChecks, session.runtimeSessionId)
  yield* checkIdle(watch, runtime, session)
})

const reportActive = Effect.fnUntraced(function* (
  watch: Watch,
  runtime: AgentRuntimeShape,
  session: Watched,
  { causePromptId, evidence }: { readonly causePromptId?: string | undefined; readonly evidence: string }
) {
  const { ownPrompts, sessions } = watch
  const id = session.runtimeSessionId
  if (session.inTurn) {
    if (causePromptId !== undefined && !ownPrompts.isOurs(causePromptId)) session.othersInTurn = true
    return
  }
  const now = yield* Clock.currentTimeMillis
  const endedMs = ownPrompts.lastEndedAt(id)
  const cause = attribute({
    ...defined({ causePromptId }),
    causeIsOurs: causePromptId !== undefined && ownPrompts.isOurs(causePromptId),
    live: ownPrompts.isLive(id),
    ...(endedMs === undefined ? {} : { msSinceOurs: now - endedMs })
  })
  if (cause !== "human" && cause !== "agent") return
  const wasBusy = sessions.isBusy(id)
  sessions.markBusy(id, now)
  if (wasBusy) return
  yield* tell(watch, session, { _tag: "ReportActivity", cause, evidence })
  yield* checkIdle(watch, runtime, session)
})

/** Questions that are asked within our turn are reported by its worker. */
const observe = (watch: Watch, runtime: AgentRuntimeShape, event: RuntimeEvent): Effect.Effect<void> => {
  const session = watch.sessions.get(event.sessionId)
  if (session === undefined) return Effect.void
  switch (event.type) {
    case "working":
      return reportActive(watch, runtime, session, event)
    case "prompting": {
      if (session.inTurn || !watch.sessions.isBusy(event.sessionId)) return Effect.void
      return Effect.flatMap(agentQuestion(runtime, event), (question) => tell(watch, session, question))
    }
    case "replied":
      return session.inTurn
        ? Effect.void
        : tell(watch, session, { _tag: "RecordAgentQuestionGone", promptId: event.promptId })
    case "refused": {
      if (session.inTurn || !watch.sessions.isBusy(event.sessionId)) return Effect.void
      return tell(watch, session, refusedReport(event))
    }
    // The end of activity is found by asking the runtime.
    case "words":
    case "progress":
    case "idle":
    case "failed":
    case "gone":
      return Effect.void
  }
}

/**
 * Looks whether somebody is at work in a session, or was while nobody watched: then its newest message belongs to a
 * prompt that is neither ours nor known.
 */
const lookForOthers = Effect.fnUntraced(function* (
  watch: Watch,
  runtime: AgentRuntimeShape,
  session: Watched,
  known: ReadonlyArray<string>
) {
  const inspection = yield* runtime.inspect(session.runtimeSessionId)
  const { state } = inspection
  const causePromptId = newestPromptIn(inspection)
  const isNews =
    causePromptId !== undefined && !watch.ownPrompts.isOurs(causePromptId) && !known.includes(causePromptId)
  if (!isNews && state._tag !== "busy") return
  yield* reportActive(watch, runtime, session, { evidence: state._tag === "busy" ? "busy" : "message", causePromptId })
  if (state._tag === "prompting") yield* observe(watch, runtime, { type: "prompting", ...state.prompt })
})

/** Somebody prompted the agent during our turn, which has ended: they may be at work still. */
const lookAfterTurn = (watch: Watch, session: Watched) => {
  if (!session.othersInTurn) return Effect.void
  session.othersInTurn = false
  return watch.runtimes.get(session.runtime).pipe(
    Effect.flatMap((runtime) => lookForOthers(watch, runtime, session, [])),
    Effect.catch((error) => Effect.logWarning(`activity may have been missed: ${error.message}`))
  )
}

/**
 * Begins to watch a session, and checks at once whether somebody is at work in it. False: the view is outdated, and nothing
 * was done.
 */
const begin = Effect.fnUntraced(function* (watch: Watch, view: SessionView, lookUp: LookUp) {
  const { heldBy, knownPromptIds = [], lastPromptId, runtime: name, runtimeSessionId, sessionId } = view
  if (view.host !== watch.host || isEnded(view.status) || runtimeSessionId === undefined) return true
  if (lastPromptId !== undefined) {
    yield* watch.ownPrompts.remember(lastPromptId, runtimeSessionId, Date.parse(view.lastActivityAt))
  }
  const inTurn = view.turnId !== undefined
  const session: Watched = { key: sessionId, runtimeSessionId, runtime: name, inTurn, othersInTurn: false }
  if (!watch.sessions.add(session, lookUp)) return false
  if (session.inTurn) return true
  const runtime = yield* watch.runtimes.get(name)
  // The agent may have become idle while nobody watched.
  if (heldBy === "agent") {
    watch.sessions.markBusy(runtimeSessionId, yield* Clock.currentTimeMillis)
    yield* checkIdle(watch, runtime, session)
  } else {
    yield* lookForOthers(watch, runtime, session, knownPromptIds)
  }
  return true
})

/** Nothing says later what a human did before the watch began: a session is looked up until the answer is known. */
const passes = (error: QueryFailed | AgentError) =>
  error._tag === "AgentError" ? error.kind !== "session-missing" : error.code !== "not-found"

/** Watches a session as its journal has it now. False: an event of it came before the answer, and may be newer. */
const lookUpOnce = (watch: Watch, id: SessionId) =>
  Effect.acquireUseRelease(
    Effect.sync(() => watch.sessions.beginLookUp(id)),
    (lookUp) => Effect.flatMap(watch.messenger.show.sessionManager(id), (view) => begin(watch, view, lookUp)),
    (lookUp) => Effect.sync(() => watch.sessions.endLookUp(lookUp))
  )

/**
 * Looks a session up until no event of it comes meanwhile: the end of a turn that the answer calls open is told only once.
 * What fails for now is tried again, and holds up no other session.
 */
const lookUp = (watch: Watch, id: SessionId) => {
  const look = lookUpOnce(watch, id).pipe(
    Effect.repeat({ until: (isCurrent) => isCurrent }),
    Effect.tapError((error) => Effect.logInfo(`session ${id} is not watched yet: ${error.message}`))
  )
  const laterLook = Effect.retry(look, { schedule: lookAgain, while: passes }).pipe(
    Effect.catch((error) => Effect.logWarning(`session ${id} cannot be watched: ${error.message}`))
  )
  return Effect.catch(look, () => FiberMap.run(watch.lookUps, id, laterLook, { onlyIfMissing: true }))
}

/**
 * Somebody is said to be at work where this watch sees nobody: a report of it came late, after its sender had died. Nobody
 * would ever say that they are idle, so they are watched until they are.
 */
const expectIdle = Effect.fnUntraced(function* (watch: Watch, session: Watched) {
  if (session.inTurn || watch.sessions.isBusy(session.runtimeSessionId)) return
  const runtime = yield* watch.runtimes.get(session.runtime)
  watch.sessions.markBusy(session.runtimeSessionId, yield* Clock.currentTimeMillis)
  yield* checkIdle(watch, runtime, session)
})

const stopIdleCheck = ({ idleChecks, sessions }: Watch, { runtimeSessionId }: Watched) => {
  sessions.markIdle(runtimeSessionId)
  return FiberMap.remove(idleChecks, runtimeSessionId)
}

const follow = Effect.fnUntraced(function* (watch: Watch, event: FollowedEvent) {
  const before = watch.sessions.find(event.sessionId)
  if (watch.sessions.note(event)) yield* lookUp(watch, event.sessionId)
  if (before === undefined) return
  if (isWorkOfOthers(event)) return yield* Effect.catch(expectIdle(watch, before), logUnreported)
  if (endsWorkOfOthers(event)) yield* stopIdleCheck(watch, before)
  if (!before.inTurn) yield* Effect.forkChild(lookAfterTurn(watch, before))
})

/** The sequence of the next event that is stored, or less. */
const nextSequence = Effect.gen(function* () {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const last = yield* broker.last("events", subjects(prefix).events("session-manager", "*", "*"))
  return (last?.sequence ?? 0) + 1
})

const followEvents = (watch: Watch, sequence: number) =>
  watch.messenger
    .events({ services: ["session-manager"], types: followedTypes, from: { sequence } })
    .pipe(Stream.runForEach(({ event }) => (isFollowed(event) ? follow(watch, event) : Effect.void)))

/**
 * The list says which sessions there are. Each is looked up, since a process that is killed between a decision and its
 * view leaves an old view behind, and no event comes any more for a turn that seems to be open.
 */
const listSessions = (watch: Watch) =>
  Effect.flatMap(watch.messenger.list.sessionManager(), (views) =>
    Effect.forEach(
      views.filter(({ status }) => !isEnded(status)),
      ({ sessionId }) => lookUp(watch, sessionId),
      { discard: true }
    )
  )

const encodeAtWork = Schema.encodeEffect(Schema.fromJsonString(SessionsAtWork))

/** Whoever parks a run learns here what was done in its sessions while nobody watched. */
const answerWhoIsAtWork = Effect.fnUntraced(function* (watch: Watch, looked: Deferred.Deferred<void>) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const answer = Effect.andThen(
    Deferred.await(looked),
    Effect.suspend(() => encodeAtWork({ sessions: watch.sessions.atWork() }))
  )
  yield* broker.serve("session-manager-watch", { [subjects(prefix).watch(watch.host)]: () => Effect.orDie(answer) })
})

export const watchActivity = Effect.fnUntraced(function* ({ idleGrace }: Pick<SessionSettings, "idleGrace">) {
  const { host } = yield* ActorConfig
  const watch: Watch = {
    host,
    idleGrace,
    messenger: yield* Messenger,
    ownPrompts: yield* OwnPrompts,
    runtimes: yield* AgentRuntimes,
    sessions: new WatchedSessions(),
    idleChecks: yield* FiberMap.make<string>(),
    lookUps: yield* FiberMap.make<string, void, never>()
  }
  for (const name of watch.runtimes.names) {
    const runtime = yield* watch.runtimes.get(name)
    yield* Effect.forkScoped(Stream.runForEach(runtime.events, (event) => observe(watch, runtime, event)))
  }
  const handBacks = yield* HandBacks
  yield* handBacks.all.pipe(
    Stream.runForEach((key) => Effect.catch(handedBack(watch, key), logUnreported)),
    Effect.forkScoped({ startImmediately: true })
  )
  const looked = yield* Deferred.make<void>()
  yield* answerWhoIsAtWork(watch, looked)
  const look = listSessions(watch).pipe(
    Effect.andThen(FiberMap.awaitEmpty(watch.lookUps)),
    Effect.andThen(Deferred.succeed(looked, undefined))
  )
  // Both at once, from a place that is known before: what is told after a session was looked up is followed, however late
  // the broker begins to tell it.
  yield* nextSequence.pipe(
    Effect.flatMap((sequence) => Effect.all([followEvents(watch, sequence), look], { concurrency: 2, discard: true })),
    Effect.tapError((error) => Effect.logInfo(`sessions are not watched yet: ${error.message}`)),
    Effect.retry({ schedule: Schedule.spaced("1 second") }),
    Effect.forkScoped
  )
})
