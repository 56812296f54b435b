/** The edges' way in and out: how whoever is not an actor sends commands, publishes and reads events, and asks. */
import {
  ApiError,
  type Key,
  type MessageMeta,
  type PublicEvent,
  type PublicEventType,
  type RunId,
  type ServiceName,
  subjects as subjectsOf
} from "@reprise/protocol"
import { Clock, Context, Effect, Layer, Result, Schema, Stream } from "effect"
import type { Tagged } from "./Actor.ts"
import { ActorConfig } from "./ActorConfig.ts"
import { Broker, type EventsFrom, type StoredMessage } from "./broker/Broker.ts"
import type { BrokerFault } from "./broker/faults.ts"
import { DeadLetter } from "./DeadLetter.ts"
import { traceparentOf } from "./runtime/trace.ts"
import { encodeCommand, encodeEvent, readEvent, readMeta } from "./wire.ts"

/** The message was not stored, or does not match its schema. */
export class SendFailed extends Schema.TaggedError<SendFailed>()("SendFailed", {
  what: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.what} was not sent: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

/** A query that got no data: `code` and `hint` are for `--json`. */
export class QueryFailed extends Schema.TaggedError<QueryFailed>()("QueryFailed", ApiError.fields) {}

export interface SendOptions {
  /** The message's id: the same id is delivered once. Default: a new one. */
  readonly id?: string
  /** Id of the message that led to this one. */
  readonly causation?: string
  /** The run it belongs to. Default: the command's `runId`, else the key. */
  readonly subject?: string
  /** Continues this trace. Default: the current span's, or a new one. */
  readonly traceparent?: string
}

export interface EventsOptions {
  readonly runId?: RunId | Key
  readonly services?: ReadonlyArray<ServiceName>
  readonly types?: ReadonlyArray<PublicEventType>
  readonly from: EventsFrom
}

/** One public event with its place in the event stream. */
export interface SeenEvent {
  readonly sequence: number
  readonly meta: MessageMeta
  readonly event: PublicEvent
}

export interface StoredLetter {
  readonly sequence: number
  /** When it was set aside, ISO 8601. */
  readonly time: string
  readonly letter: DeadLetter | undefined
}

const Reply = Schema.fromJsonString(
  Schema.Union([
    Schema.Struct({ ok: Schema.Literal(true), data: Schema.Unknown }),
    Schema.Struct({ ok: Schema.Literal(false), error: ApiError })
  ])
)
const readReply = Schema.decodeUnknownEffect(Reply)

const runOf = (message: object, otherwise: string): string =>
  "runId" in message && typeof message.runId === "string" ? message.runId : otherwise

/** What is lost is not for this reader, and holds nobody else up. */
const orNothing = (body: StoredMessage["body"]) => Effect.catchTag(body, "BodyLost", () => Effect.succeed(""))

const make = Effect.gen(function* () {
  const broker = yield* Broker
  const settings = yield* ActorConfig
  const subjects = subjectsOf(settings.prefix)

  /** Everything of the envelope; the trace goes on from whoever sends. */
  const metaOf = Effect.fnUntraced(function* (service: ServiceName, type: string, run: string, options: SendOptions) {
    const now = yield* Clock.currentTimeMillis
    const span = yield* Effect.result(Effect.currentParentSpan)
    const traceparent = options.traceparent ?? (Result.isSuccess(span) ? traceparentOf(span.success) : undefined)
    return {
      id: options.id ?? crypto.randomUUID(),
      type,
      source: `/${service}/${settings.host}`,
      subject: options.subject ?? run,
      time: new Date(now).toISOString(),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(options.causation === undefined ? {} : { causation: options.causation })
    } satisfies MessageMeta
  })

  const store = (what: string, subject: () => string, payload: () => object, meta: MessageMeta) =>
    Effect.try({
      try: () => ({ subject: subject(), body: JSON.stringify(payload()), meta }),
      catch: (cause) => cause
    }).pipe(
      Effect.flatMap((message) => broker.publish([message])),
      Effect.mapError((cause) => new SendFailed({ what, cause }))
    )

  const send = Effect.fn("Messenger.send")(function* (
    service: ServiceName,
    key: Key,
    command: Tagged,
    options: SendOptions = {}
  ) {
    const meta = yield* metaOf(service, command._tag, runOf(command, key), options)
    yield* store(
      command._tag,
      () => subjects.command(service, key),
      () => encodeCommand(service, command),
      meta
    )
    return { id: meta.id }
  })

  const publish = Effect.fn("Messenger.publish")(function* (
    service: ServiceName,
    event: PublicEvent,
    options: SendOptions = {}
  ) {
    const meta = yield* metaOf(service, event._tag, event.runId, options)
    yield* store(
      event._tag,
      () => subjects.event(service, event.runId, event._tag),
      () => encodeEvent(event),
      meta
    )
  })

  const events = ({ from, runId, services, types }: EventsOptions) => {
    const patterns = (services ?? ["*" as const]).flatMap((service) =>
      (types ?? ["*"]).map((type) => subjects.events(service, runId ?? "*", type))
    )
    const wanted = new RegExp(`^(?:${patterns.map(subjectPattern).join("|")})$`)
    return broker.follow(patterns, from).pipe(
      Stream.filter(({ subject }) => wanted.test(subject)),
      Stream.mapEffect(
        Effect.fnUntraced(function* (stored) {
          const body = yield* orNothing(stored.body)
          const read = Result.all({
            meta: readMeta(stored.header),
            event: Result.flatMap(readMeta(stored.header), (meta) => readEvent(meta.type, body))
          })
          // An event of a newer version, or of someone who does not keep to the protocol, is not for this reader.
          return Result.isSuccess(read) ? [{ sequence: stored.sequence, ...read.success }] : []
        })
      ),
      Stream.flatMap((seen) => Stream.fromIterable(seen))
    )
  }

  const query = Effect.fn("Messenger.query")(function* (service: ServiceName, name: "list" | "show", payload: object) {
    const failed = (code: string, message: string, hint: string) => new QueryFailed({ code, message, hint })
    const text = yield* broker
      .request(subjects.api(service, name), JSON.stringify(payload))
      .pipe(Effect.mapError((fault) => failed("broker", fault.message, "Run 'reprise doctor'.")))
    if (text === undefined) {
      return yield* failed("not-running", `No ${service} answers.`, "Start it with 'reprise up' or 'reprise serve'.")
    }
    const reply = yield* readReply(text).pipe(
      Effect.mapError((error) => failed("bad-reply", error.message, "Are all services of the same version?"))
    )
    return reply.ok ? reply.data : yield* new QueryFailed(reply.error)
  })

  const deadLetters = Effect.fn("Messenger.deadLetters")(function* (after = 0) {
    const stored = yield* broker.read("dead", subjects.deads(), after)
    return yield* Effect.forEach(stored, ({ body, header, sequence }) =>
      Effect.map(orNothing(body), (text) => ({
        sequence,
        time: header("ce-time"),
        letter: Result.getOrUndefined(readLetter(text))
      }))
    )
  })

  return Messenger.of({ send, publish, events, query, deadLetters })
})

const readLetter = Schema.decodeUnknownResult(Schema.fromJsonString(DeadLetter))

const subjectPattern = (subject: string) => subject.replaceAll(".", "\\.").replaceAll("*", "[^.]+")

export class Messenger extends Context.Service<
  Messenger,
  {
    /** Publishes a command; it is encoded by its schema. The same id is delivered once. */
    readonly send: <Command extends Tagged>(
      service: ServiceName,
      key: Key,
      command: Command,
      options?: SendOptions
    ) => Effect.Effect<{ readonly id: string }, SendFailed>
    /** Publishes an event that no actor journals. */
    readonly publish: (
      service: ServiceName,
      event: PublicEvent,
      options?: SendOptions
    ) => Effect.Effect<void, SendFailed>
    /** Public events in order, live, without gaps across reconnects; never ends. */
    readonly events: (options: EventsOptions) => Stream.Stream<SeenEvent, BrokerFault>
    /** What could not be handled, oldest first, after a sequence if given; a letter that cannot be read is undefined. */
    readonly deadLetters: (after?: number) => Effect.Effect<ReadonlyArray<StoredLetter>, BrokerFault>
    /** The data that a service answers: `list` takes a filter or `{}`, `show` takes `{ id }`. */
    readonly query: (
      service: ServiceName,
      name: "list" | "show",
      payload: object
    ) => Effect.Effect<unknown, QueryFailed>
  }
>()("@reprise/actor/Messenger") {
  static readonly layer: Layer.Layer<Messenger, never, Broker | ActorConfig> = Layer.effect(Messenger, make)
}
