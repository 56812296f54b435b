/** Events for browsers: the stream of all that happens from now on, the story of one run, and what its agents do. */
import { ActorConfig, Broker, Messenger, type SeenEvent } from "@reprise/actor"
import { ConsoleConnected, ConsoleEvent, LiveMessage, type PublicEvent, RunId, subjects } from "@reprise/protocol"
import { type Cause, Clock, Effect, Queue, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { heartbeat, lastSeen, retryLine, streamMessage, whereToStart } from "../../console/eventStream.ts"
import { makeLastTexts } from "../../console/lastTexts.ts"
import { ConsoleSources, Unavailable } from "./ConsoleSources.ts"
import { queryValues, type Route } from "./Route.ts"
import { dataOfTexts } from "./replies.ts"
import { runIdInPath } from "./viewRoutes.ts"

const encode = Schema.encodeSync(ConsoleEvent)
const encodeConnected = Schema.encodeSync(ConsoleConnected)
const encodeLive = Schema.encodeSync(LiveMessage)
const heartbeatEvery = "15 seconds"
/** Runs whose agents one connection follows: more than anybody looks at. */
const mostHeard = 64

/** There are many, and the next one or the end of the turn says the same. */
const isKept = ({ _tag }: PublicEvent): boolean => _tag !== "TurnProgress"

const lastSequence = Effect.fnUntraced(function* (run: RunId | "*") {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  return (yield* broker.last("events", subjects(prefix).events("*", run)))?.sequence ?? 0
})

const toConsoleEvent =
  ({ describe }: ConsoleSources["Service"]) =>
  ({ event, meta, sequence }: SeenEvent): ConsoleEvent => ({ sequence, time: meta.time, event, ...describe(event) })

/** It ends when the messages do. */
const withHeartbeat = <E>(messages: Stream.Stream<string, E>) =>
  Stream.merge(
    messages,
    Stream.map(Stream.tick(heartbeatEvery), () => heartbeat),
    { haltStrategy: "left" }
  )

/** Messages that a reader has not taken yet. */
const mostUnread = 1_024

/** Ends when its reader lags too far behind: nobody holds up who speaks, so what was said would be kept without end. */
const forReadersInTime = (messages: Stream.Stream<string>) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const unread = yield* Queue.dropping<string, Cause.Done>(mostUnread)
      yield* Stream.runForEach(messages, (message) =>
        Queue.offerUnsafe(unread, message) ? Effect.void : Effect.andThen(Queue.end(unread), Effect.never)
      ).pipe(Effect.forkScoped)
      return Stream.fromQueue(unread)
    })
  )

const eventStream = <E>(messages: Stream.Stream<string, E>) =>
  HttpServerResponse.stream(
    Stream.encodeText(messages),
    // A proxy must not collect the messages.
    { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
  )

/** Every event of every run, until the reader leaves. */
const follow = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const [after] = yield* queryValues("after")
  const messenger = yield* Messenger
  const read = toConsoleEvent(yield* ConsoleSources)
  const { from, resumed } = whereToStart(
    lastSeen(headers["last-event-id"], after),
    yield* lastSequence("*"),
    yield* Clock.currentTimeMillis
  )
  const events = messenger
    .events({ from })
    .pipe(Stream.map((seen) => streamMessage("event", encode(read(seen)), seen.sequence)))
  const connected = Stream.make(retryLine, streamMessage("connected", encodeConnected({ resumed })))
  return eventStream(Stream.concat(connected, withHeartbeat(events)))
})

const decodeRuns = Schema.decodeUnknownEffect(
  Schema.Array(RunId).check(Schema.isMinLength(1), Schema.isMaxLength(mostHeard))
)

/** What the agents of these runs do right now. Nothing of it is kept, so a reader that was cut off misses it. */
const hearing = (runs: ReadonlyArray<RunId>) =>
  Effect.map(Messenger, ({ hear }) => {
    const messages = Stream.mergeAll(runs.map(hear), { concurrency: "unbounded" }).pipe(
      Stream.map((message) => streamMessage("live", encodeLive(message)))
    )
    // The reader is told once it hears: listening starts first.
    const listening = Stream.make(retryLine, streamMessage("listening", {}))
    return eventStream(withHeartbeat(forReadersInTime(Stream.merge(messages, listening))))
  })

const hearRun = Effect.flatMap(runIdInPath, (runId) => hearing([runId]))

/** Of several runs by one connection, since a browser has six. */
const hearRuns = Effect.gen(function* () {
  return yield* hearing(yield* decodeRuns([...new Set(yield* queryValues("run"))]))
})

/** Of a longer story the end is shown. */
const mostStory = 5_000
const mostStoryCharacters = 8 * 1024 * 1024

const tooSlow = new Unavailable({
  code: "slow",
  message: "The events of this run could not be read in time.",
  hint: "Try again in a moment; 'reprise watch' shows them as they come."
})

/** What has happened in a run so far, oldest first. */
const story = Effect.gen(function* () {
  const runId = yield* runIdInPath
  const messenger = yield* Messenger
  const read = toConsoleEvent(yield* ConsoleSources)
  const last = yield* lastSequence(runId)
  const texts = makeLastTexts(mostStory, mostStoryCharacters)
  if (last === 0) return dataOfTexts(texts.all())
  yield* messenger.events({ runId, from: "beginning" }).pipe(
    Stream.takeUntil(({ sequence }) => sequence >= last),
    Stream.filter(({ event }) => isKept(event)),
    Stream.runForEach((one) => Effect.sync(() => texts.add(JSON.stringify(encode(read(one)))))),
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.fail(tooSlow) })
  )
  return dataOfTexts(texts.all())
})

export const eventRoutes = [
  { method: "GET", path: "/api/events", access: "reader", isStream: true, reply: follow },
  { method: "GET", path: "/api/runs/:id/events", access: "reader", readsMuch: true, reply: story },
  { method: "GET", path: "/api/live", access: "reader", isStream: true, reply: hearRuns },
  { method: "GET", path: "/api/runs/:id/live", access: "reader", isStream: true, reply: hearRun }
] satisfies ReadonlyArray<Route<unknown>>
