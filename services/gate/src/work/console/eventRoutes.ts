/** Public events for browsers: the stream of all that happens from now on, and the story of one run. */
import { ActorConfig, Broker, Messenger, type SeenEvent } from "@reprise/actor"
import { ConsoleConnected, ConsoleEvent, type PublicEvent, RunId, subjects } from "@reprise/protocol"
import { Clock, Effect, Schema, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { heartbeat, retryLine, streamMessage, whereToStart } from "../../console/eventStream.ts"
import { ConsoleSources } from "./ConsoleSources.ts"
import { data, orFailure } from "./replies.ts"

const encode = Schema.encodeSync(ConsoleEvent)
const encodeConnected = Schema.encodeSync(ConsoleConnected)
const heartbeatEvery = "15 seconds"

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

/** Every event of every run, until the reader leaves. */
const follow = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const messenger = yield* Messenger
  const read = toConsoleEvent(yield* ConsoleSources)
  const { from, resumed } = whereToStart(
    headers["last-event-id"],
    yield* lastSequence("*"),
    yield* Clock.currentTimeMillis
  )
  const events = messenger
    .events({ from })
    .pipe(Stream.map((seen) => streamMessage("event", encode(read(seen)), seen.sequence)))
  const beats = Stream.tick(heartbeatEvery).pipe(Stream.map(() => heartbeat))
  const connected = Stream.make(retryLine, streamMessage("connected", encodeConnected({ resumed })))
  return HttpServerResponse.stream(
    Stream.concat(connected, Stream.merge(events, beats)).pipe(Stream.encodeText),
    // A proxy must not collect the messages.
    { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
  )
})

/** What has happened in a run so far, oldest first. */
const story = Effect.gen(function* () {
  const runId = RunId.make((yield* HttpRouter.params)["id"] ?? "")
  const messenger = yield* Messenger
  const read = toConsoleEvent(yield* ConsoleSources)
  const last = yield* lastSequence(runId)
  if (last === 0) return data([])
  const seen = yield* messenger.events({ runId, from: "beginning" }).pipe(
    Stream.takeUntil(({ sequence }) => sequence >= last),
    Stream.filter(({ event }) => isKept(event)),
    Stream.runCollect
  )
  return data(seen.map((one) => encode(read(one))))
})

export const eventRoutes = [
  HttpRouter.route("GET", "/api/events", orFailure(follow)),
  HttpRouter.route("GET", "/api/runs/:id/events", orFailure(story))
] as const
