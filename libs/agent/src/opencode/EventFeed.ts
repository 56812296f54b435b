/**
 * The runtime's events: OpenCode's stream, opened again whenever it drops, and beside it a poll that tells what the
 * stream did not (facts: streams close in mid-turn, idle events are never sent).
 */
import type { GlobalEvent, SessionStatus } from "@opencode-ai/sdk/v2/client"
import { Clock, Effect, Option, PubSub, Schedule, type Scope, Stream } from "effect"
import type { PendingPrompt, RuntimeEvent } from "../RuntimeEvent.ts"
import { ActivityTracker, type Observed } from "./ActivityTracker.ts"
import type { Calls } from "./calls.ts"
import { clientFor } from "./http.ts"
import type { Connection } from "./OpenCodeEndpoint.ts"
import type { OpenCodeServerShape } from "./OpenCodeServer.ts"
import { PendingPrompts } from "./PendingPrompts.ts"
import type { SessionFact, SessionFacts } from "./SessionFacts.ts"

export interface EventFeed {
  readonly events: Stream.Stream<RuntimeEvent>
  readonly pending: PendingPrompts
  /** Look after this session from now on: tell of it even when the stream does not. */
  readonly watch: (session: SessionFact) => Effect.Effect<void>
  /** The words of the newest `session.error` of a session since then; the event may come just after an answer. */
  readonly errorSince: (sessionId: string, sinceMs: number) => Effect.Effect<Option.Option<string>>
}

interface FeedOptions {
  readonly server: OpenCodeServerShape
  readonly calls: Calls
  readonly facts: SessionFacts
  readonly graceMs: number
  readonly pollMs: number
}

const recentlyMs = 60 * 60_000

/** What has come and gone without an event. */
const changes = (
  before: ReadonlyArray<PendingPrompt>,
  now: ReadonlyArray<PendingPrompt>
): ReadonlyArray<RuntimeEvent> => {
  const ids = (prompts: ReadonlyArray<PendingPrompt>) => new Set(prompts.map(({ promptId }) => promptId))
  const [had, has] = [ids(before), ids(now)]
  return [
    ...now.flatMap((prompt) => (had.has(prompt.promptId) ? [] : [{ type: "prompting" as const, ...prompt }])),
    ...before.flatMap(({ causePromptId, promptId, sessionId }) => {
      const cause = causePromptId === undefined ? {} : { causePromptId }
      return has.has(promptId) ? [] : [{ type: "replied" as const, sessionId, promptId, ...cause }]
    })
  ]
}

const openStream = (connection: Connection) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const { stream } = yield* Effect.promise(() =>
        clientFor(connection).global.event({ signal: abort.signal, sseMaxRetryAttempts: 1 })
      )
      return Stream.fromAsyncIterable(stream, () => "dropped" as const)
    })
  )

export const makeEventFeed = Effect.fn("OpenCode.events")(function* (
  options: FeedOptions
): Effect.fn.Return<EventFeed, never, Scope.Scope> {
  const { calls, facts, graceMs, pollMs, server } = options
  const hub = yield* PubSub.sliding<RuntimeEvent>(16_384)
  const tracker = new ActivityTracker(facts)
  const pending = new PendingPrompts(calls, facts, (id) => tracker.at(id))
  const watched = new Map<string, { readonly session: SessionFact; readonly touchedAt: number }>()
  const errors = new Map<string, { readonly atMs: number; readonly message: string }>()

  const tell = Effect.fnUntraced(function* (observed: ReadonlyArray<Observed>) {
    for (const event of observed) {
      if (event.type === "permission-asked" || event.type === "question-asked") {
        if (pending.isKept(event.request.id)) continue
        const prompt = yield* pending.asked(event)
        if (Option.isSome(prompt)) yield* PubSub.publish(hub, { type: "prompting", ...prompt.value })
      } else {
        yield* PubSub.publish(hub, event)
      }
    }
  })

  const observe = Effect.fnUntraced(function* (event: GlobalEvent) {
    const now = yield* Clock.currentTimeMillis
    const { payload } = event
    if (payload.type === "session.error" && payload.properties.sessionID !== undefined) {
      const { error, sessionID } = payload.properties
      const message = error !== undefined && "message" in error.data ? error.data.message : undefined
      // The first line: a stack trace may follow.
      if (typeof message === "string" && !message.includes("\n")) errors.set(sessionID, { atMs: now, message })
    }
    // A reply to what was never told of, such as one that a mode gave, is no news.
    const observed = tracker.observe(payload, now).filter((it) => it.type !== "replied" || pending.replied(it.promptId))
    yield* tell(observed)
  })

  const reconcileSession = Effect.fnUntraced(function* (session: SessionFact, status: SessionStatus | undefined) {
    const busy = status !== undefined && status.type !== "idle"
    if (!busy) return yield* tell(tracker.isBusy(session.id) === true ? tracker.foundIdle(session.id) : [])
    if (tracker.isBusy(session.id) === true) return
    const last = yield* calls.once("newest message", (client, signal) =>
      client.session.messages({ sessionID: session.id, directory: session.directory, limit: 1 }, { signal })
    )
    const info = last.at(-1)?.info
    yield* tell(tracker.foundBusy(session.id, info?.role === "assistant" ? info.parentID : info?.id))
  })

  /** Compares what is believed of the sessions with what OpenCode says now. */
  const reconcile = Effect.fnUntraced(
    function* (of: ReadonlyArray<SessionFact>) {
      const directories = Map.groupBy(of, (session) => session.directory)
      for (const [directory, sessions] of directories) {
        const status = yield* calls.once("status", (client, signal) => client.session.status({ directory }, { signal }))
        yield* Effect.forEach(sessions, (session) => reconcileSession(session, status[session.id]), { discard: true })
        const before = pending.inDirectory(directory)
        if (Object.keys(status).length === 0 && before.length === 0) continue
        const now = yield* pending.list(directory)
        yield* tell(changes(before, now))
      }
    },
    (effect) => Effect.ignore(effect)
  )

  const busyOnes = () => [...watched.values()].flatMap((it) => (tracker.isBusy(it.session.id) ? [it.session] : []))
  /** Those of which events may have been missed. To ask for a directory makes OpenCode load it: not for old ones. */
  const missedOnes = Effect.map(Clock.currentTimeMillis, (now) =>
    [...watched.values()].flatMap(({ session, touchedAt }) =>
      tracker.isBusy(session.id) || now - touchedAt < recentlyMs ? [session] : []
    )
  )

  let awaySince: number | undefined
  let toldGone = false
  const away = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    awaySince ??= now
    if (toldGone || now - awaySince < graceMs) return
    toldGone = true
    yield* Effect.forEach(watched.keys(), (id) => PubSub.publish(hub, { type: "gone", ...tracker.at(id) }), {
      discard: true
    })
  })
  const back = Effect.gen(function* () {
    awaySince = undefined
    toldGone = false
    yield* Effect.forkChild(Effect.flatMap(missedOnes, reconcile))
  })

  const listen = Effect.gen(function* () {
    for (;;) {
      const connection = yield* server.whenStarted.pipe(
        Effect.timeoutOption(`${pollMs} millis`),
        Effect.map(Option.getOrUndefined)
      )
      if (connection === undefined) {
        if (watched.size > 0) yield* away
        continue
      }
      yield* openStream(connection).pipe(
        Stream.tap((event) =>
          awaySince === undefined && event.payload.type !== "server.connected" ? Effect.void : back
        ),
        Stream.runForEach(observe),
        Effect.ignore
      )
      yield* away
      yield* Effect.sleep(`${Math.min(250, pollMs)} millis`)
    }
  })

  const poll = Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(`${pollMs} millis`)
      if (awaySince === undefined) yield* reconcile(busyOnes())
    }
  })

  yield* Effect.forkScoped(listen)
  yield* Effect.forkScoped(poll)

  return {
    events: Stream.fromPubSub(hub),
    pending,
    watch: (session) =>
      Effect.map(Clock.currentTimeMillis, (touchedAt) => {
        watched.set(session.id, { session, touchedAt })
      }),
    errorSince: (sessionId, sinceMs) =>
      Effect.sync(() => {
        const error = errors.get(sessionId)
        return error !== undefined && error.atMs >= sinceMs ? Option.some(error.message) : Option.none<string>()
      }).pipe(
        Effect.repeat({
          until: Option.isSome,
          schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "500 millis" }))
        })
      )
  }
})
