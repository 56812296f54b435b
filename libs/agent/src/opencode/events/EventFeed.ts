/**
 * The runtime's events: OpenCode's stream, reopened whenever it drops, and a poll that finds what the stream missed
 * (measured: streams close in the middle of a turn, and idle events are sometimes not sent).
 */
import type { GlobalEvent, Message, SessionStatus } from "@opencode-ai/sdk/v2/client"
import { Clock, Effect, Fiber, Option, PubSub, Schedule, type Scope, Stream } from "effect"
import type { PendingPrompt, RuntimeEvent } from "../../RuntimeEvent.ts"
import type { RememberedRule } from "../../rules/PermissionRules.ts"
import type { RuleBook } from "../../rules/RuleBook.ts"
import { steadyMs } from "../../steadyMs.ts"
import { emitEveryMs } from "../../TextThrottle.ts"
import type { Calls, Refused, Unreachable } from "../server/calls.ts"
import { clientFor } from "../server/http.ts"
import type { Connection } from "../server/OpenCodeEndpoint.ts"
import type { OpenCodeServerShape } from "../server/OpenCodeServer.ts"
import { PendingRequests, type Refreshed } from "../session/PendingRequests.ts"
import type { SessionFact, SessionFacts } from "../session/SessionFacts.ts"
import { MessageTimes } from "../turn/MessageTimes.ts"
import { ActivityTracker, type Observed } from "./ActivityTracker.ts"

export interface EventFeed {
  readonly events: Stream.Stream<RuntimeEvent>
  /** The prompts that wait in a directory, as OpenCode lists them now. Publishes what was missed. */
  readonly pendingIn: (directory: string) => Effect.Effect<ReadonlyArray<PendingPrompt>, Unreachable | Refused>
  /** The prompts of a session that are known. */
  readonly pendingOf: (sessionId: string) => ReadonlyArray<PendingPrompt>
  /** What `always` writes for a prompt that is known. */
  readonly rulesOf: (promptId: string) => ReadonlyArray<RememberedRule>
  /** From now on, polls cover this session too. */
  readonly watch: (session: SessionFact) => Effect.Effect<void>
  /** Notes the session's messages as they are made; ends when the clock was set back before one of them was. */
  readonly untilClockSetBack: (sessionId: string, times: MessageTimes) => Effect.Effect<void>
  /** Ends with the first message of the session that is made or changed so that it is the awaited one. */
  readonly untilMessage: (sessionId: string, isAwaited: (message: Message) => boolean) => Effect.Effect<void>
  /** The message of the session's newest `session.error` since then. Waits a moment: the event can follow the answer. */
  readonly errorSince: (sessionId: string, sinceMs: number) => Effect.Effect<Option.Option<string>>
}

interface FeedOptions {
  readonly server: OpenCodeServerShape
  readonly calls: Calls
  readonly facts: SessionFacts
  readonly graceMs: number
  readonly pollMs: number
  readonly rules: RuleBook
}

/** After a reconnection, sessions that were used in this period are checked. */
const recentMs = 60 * 60_000

/** Events for prompts that appeared or disappeared without one. */
const missedEvents = ({ appeared, gone }: Refreshed): ReadonlyArray<RuntimeEvent> => [
  ...appeared.map((prompt) => ({ type: "prompting" as const, ...prompt })),
  ...gone.map(({ causePromptId, promptId, sessionId }) => {
    const cause = causePromptId === undefined ? {} : { causePromptId }
    return { type: "replied" as const, sessionId, promptId, ...cause }
  })
]

const openStream = (connection: Connection) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const { stream } = yield* Effect.promise(async () => {
        const client = await clientFor(connection)
        return client.global.event({ signal: abort.signal, sseMaxRetryAttempts: 1 })
      })
      return Stream.fromAsyncIterable(stream, () => "dropped" as const)
    })
  )

/** The feed's own state. */
interface Feed extends FeedOptions {
  readonly scope: Scope.Scope
  readonly hub: PubSub.PubSub<RuntimeEvent>
  readonly tracker: ActivityTracker
  readonly pending: PendingRequests
  readonly watched: Map<string, { readonly session: SessionFact; readonly touchedAt: number }>
  /** The newest error of each session. */
  readonly errors: Map<string, { readonly atMs: number; readonly message: string }>
  /** Who reads the messages of a session and its subagents. */
  readonly readers: Map<string, Set<(message: Message) => void>>
  /** When the stream closed, by the steady clock; undefined while it is open. */
  awaySince: number | undefined
  /** Whether the words that are held back will be told in a moment. */
  tellsWords: boolean
  /** Whether `gone` was published for the current outage. */
  announcedGone: boolean
}

const publishAll = Effect.fnUntraced(function* ({ hub, pending }: Feed, observed: ReadonlyArray<Observed>) {
  for (const event of observed) {
    if (event.type === "permission-asked" || event.type === "question-asked") {
      const prompt = yield* pending.asked(event)
      if (Option.isSome(prompt)) yield* PubSub.publish(hub, { type: "prompting", ...prompt.value })
    } else {
      yield* PubSub.publish(hub, event)
    }
  }
})

const tellHeldWords = Effect.fnUntraced(function* (feed: Feed) {
  yield* Effect.sleep(`${emitEveryMs} millis`)
  feed.tellsWords = false
  yield* publishAll(feed, feed.tracker.heldWords())
})

const observe = Effect.fnUntraced(function* (feed: Feed, { payload }: GlobalEvent) {
  const now = yield* Clock.currentTimeMillis
  if (payload.type === "session.error" && payload.properties.sessionID !== undefined) {
    const { error, sessionID } = payload.properties
    const message = error !== undefined && "message" in error.data ? error.data.message : undefined
    // Only a single line: anything longer is a stack trace.
    if (typeof message === "string" && !message.includes("\n")) feed.errors.set(sessionID, { atMs: now, message })
  }
  if (payload.type === "message.updated") {
    const { info } = payload.properties
    for (const read of feed.readers.get(feed.facts.rootOf(info.sessionID)) ?? []) read(info)
  }
  // A reply to a prompt that was never published, such as one that the mode answered, is not published either.
  const observed = feed.tracker
    .observe(payload, now)
    .filter((it) => it.type !== "replied" || feed.pending.replied(it.promptId))
  yield* publishAll(feed, observed)
  if (!feed.tracker.holdsWords || feed.tellsWords) return
  feed.tellsWords = true
  yield* tellHeldWords(feed).pipe(Effect.forkIn(feed.scope))
})

const reconcileSession = Effect.fnUntraced(function* (
  feed: Feed,
  session: SessionFact,
  status: SessionStatus | undefined
) {
  const { calls, tracker } = feed
  const busy = status !== undefined && status.type !== "idle"
  if (!busy) return yield* publishAll(feed, tracker.isBusy(session.id) === true ? tracker.foundIdle(session.id) : [])
  if (tracker.isBusy(session.id) === true) return
  const last = yield* calls.once("newest message", (client, signal) =>
    client.session.messages({ sessionID: session.id, directory: session.directory, limit: 1 }, { signal })
  )
  const info = last.at(-1)?.info
  yield* publishAll(feed, tracker.foundBusy(session.id, info?.role === "assistant" ? info.parentID : info?.id))
})

/** Whoever asks, no prompt appears or disappears without an event. */
const pendingIn = (feed: Feed, directory: string) =>
  feed.pending.refresh(directory).pipe(
    Effect.tap((refreshed) => publishAll(feed, missedEvents(refreshed))),
    Effect.map(({ open }) => open)
  )

/** Asks OpenCode for the state of sessions and publishes what differs from the state known so far. */
const reconcile = Effect.fnUntraced(
  function* (feed: Feed, sessions: ReadonlyArray<SessionFact>) {
    for (const [directory, group] of Map.groupBy(sessions, (session) => session.directory)) {
      const status = yield* feed.calls.once("status", (client, signal) =>
        client.session.status({ directory }, { signal })
      )
      yield* Effect.forEach(group, (session) => reconcileSession(feed, session, status[session.id]), { discard: true })
      if (Object.keys(status).length > 0 || feed.pending.someIn(directory)) yield* pendingIn(feed, directory)
    }
  },
  (effect) => Effect.ignore(effect)
)

const busySessions = ({ tracker, watched }: Feed): ReadonlyArray<SessionFact> =>
  [...watched.values()].flatMap(({ session }) => (tracker.isBusy(session.id) ? [session] : []))

/** Sessions whose events may have been missed. Old ones are left out: asking for a directory makes OpenCode load it. */
const missedSessions = ({ tracker, watched }: Feed, nowMs: number): ReadonlyArray<SessionFact> =>
  [...watched.values()].flatMap(({ session, touchedAt }) =>
    tracker.isBusy(session.id) || nowMs - touchedAt < recentMs ? [session] : []
  )

/** The stream is closed. When the server stays away for the grace, every watched session is reported as gone, once. */
const noteAway = Effect.fnUntraced(function* (feed: Feed) {
  const now = yield* steadyMs
  feed.awaySince ??= now
  if (feed.announcedGone || now - feed.awaySince < feed.graceMs || (yield* feed.server.isAlive)) return
  feed.announcedGone = true
  yield* Effect.forEach(
    feed.watched.keys(),
    (id) => PubSub.publish(feed.hub, { type: "gone", ...feed.tracker.at(id) }),
    { discard: true }
  )
})

/** The server is back: looks up what happened meanwhile. */
const noteBack = Effect.fnUntraced(function* (feed: Feed) {
  feed.awaySince = undefined
  feed.announcedGone = false
  const now = yield* steadyMs
  yield* Effect.forkChild(reconcile(feed, missedSessions(feed, now)))
})

/** Reads the event stream until it drops; returns after a poll interval when no server is there. */
const listenOnce = Effect.fnUntraced(function* (feed: Feed) {
  const connection = yield* feed.server.whenStarted.pipe(
    Effect.timeoutOption(`${feed.pollMs} millis`),
    Effect.map(Option.getOrUndefined)
  )
  if (connection === undefined) {
    if (feed.watched.size > 0) yield* noteAway(feed)
    return
  }
  yield* openStream(connection).pipe(
    Stream.tap((event) =>
      feed.awaySince === undefined && event.payload.type !== "server.connected" ? Effect.void : noteBack(feed)
    ),
    Stream.runForEach((event) => observe(feed, event)),
    Effect.ignore
  )
  yield* noteAway(feed)
})

/** Of the session and its subagents. */
const untilMessage = ({ readers }: Feed, root: string, isAwaited: (message: Message) => boolean) =>
  Effect.callback<void>((resume) => {
    const read = (message: Message) => {
      if (isAwaited(message)) resume(Effect.void)
    }
    const ofRoot = readers.get(root) ?? new Set()
    readers.set(root, ofRoot.add(read))
    return Effect.sync(() => {
      ofRoot.delete(read)
      if (ofRoot.size === 0) readers.delete(root)
    })
  })

/** Subagents have sessions of their own, which the same clock orders. */
const untilClockSetBack = (feed: Feed, root: string, times: MessageTimes) =>
  Effect.suspend(() => {
    const bySession = new Map([[root, times]])
    return untilMessage(feed, root, (message) => {
      const ofSession = bySession.get(message.sessionID) ?? new MessageTimes()
      bySession.set(message.sessionID, ofSession)
      ofSession.note(message)
      if (ofSession.backMs === 0) return false
      times.setBack(ofSession.backMs)
      return true
    })
  })

const errorSince = ({ errors }: Feed, sessionId: string, sinceMs: number) =>
  Effect.sync(() => {
    const error = errors.get(sessionId)
    return error !== undefined && error.atMs >= sinceMs ? Option.some(error.message) : Option.none<string>()
  }).pipe(
    Effect.repeat({
      until: Option.isSome,
      schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "500 millis" }))
    })
  )

export const makeEventFeed = Effect.fn("OpenCode.events")(function* (
  options: FeedOptions
): Effect.fn.Return<EventFeed, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const tracker = new ActivityTracker(options.facts)
  const hub = yield* PubSub.sliding<RuntimeEvent>(16_384)
  const feed: Feed = {
    ...options,
    scope,
    hub,
    tracker,
    pending: new PendingRequests(options.calls, options.facts, (id) => tracker.at(id), {
      sandbox: options.server.sandbox,
      protectedPaths: options.server.protectedPaths,
      book: options.rules,
      tell: (event) => Effect.asVoid(PubSub.publish(hub, event))
    }),
    watched: new Map(),
    errors: new Map(),
    readers: new Map(),
    awaySince: undefined,
    tellsWords: false,
    announcedGone: false
  }
  const poll = Effect.suspend(() => (feed.awaySince === undefined ? reconcile(feed, busySessions(feed)) : Effect.void))
  const { pollMs } = options
  yield* Effect.forkScoped(Effect.repeat(listenOnce(feed), Schedule.spaced(`${Math.min(250, pollMs)} millis`)))
  yield* Effect.forkScoped(Effect.repeat(poll, Schedule.spaced(`${pollMs} millis`)))
  return {
    events: Stream.fromPubSub(feed.hub),
    // An asker that is interrupted does not keep others from hearing what it found.
    pendingIn: (directory) => Effect.flatMap(Effect.forkIn(pendingIn(feed, directory), scope), Fiber.join),
    pendingOf: (sessionId) => feed.pending.ofSession(sessionId),
    rulesOf: (promptId) => feed.pending.rulesOf(promptId),
    watch: (session) =>
      Effect.map(steadyMs, (touchedAt) => {
        feed.watched.set(session.id, { session, touchedAt })
      }),
    untilClockSetBack: (sessionId, times) => untilClockSetBack(feed, sessionId, times),
    untilMessage: (sessionId, isAwaited) =>
      untilMessage(feed, sessionId, (message) => message.sessionID === sessionId && isAwaited(message)),
    errorSince: (sessionId, sinceMs) => errorSince(feed, sessionId, sinceMs)
  }
})
