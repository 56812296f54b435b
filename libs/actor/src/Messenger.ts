/** The edges' way in and out: how whoever is not an actor sends commands, publishes and reads events, and asks. */
import {
  type Addressed,
  ApiError,
  type Askable,
  contracts,
  type IdOf,
  type Key,
  type ListFilter,
  type MessageMeta,
  type OutcomeOf,
  outcomeOf,
  type PublicEvent,
  type PublicEventType,
  type RefusalCode,
  type RunId,
  type ServiceName,
  subjects as subjectsOf,
  type ViewOf
} from "@reprise/protocol"
import { Clock, Context, type Duration, Effect, Layer, Option, Result, Schema, Stream } from "effect"
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

/** The service answered a command with `CommandRefused`. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  command: Schema.String,
  /** One of the service's refusal codes; `other` where an older version of the service gave none. */
  code: Schema.String,
  /** A sentence with the next step. */
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}
export type RefusedBy<Service extends ServiceName> = Refused & { readonly code: RefusalCode<Service> | "other" }

/** The command is stored, and no event answered it in time: its service does not run, or is still at work. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  service: Schema.String,
  command: Schema.String
}) {
  override get message() {
    return `The ${this.service} has not answered ${this.command} yet. The command is stored and will be handled.`
  }
}

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

export interface AskOptions extends SendOptions {
  /** How long to wait for the answer. Default: 15 seconds. */
  readonly patience?: Duration.Input
  /** ISO time from which answers count. Default: a second before now; earlier when the same command is asked again. */
  readonly since?: string
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

  const sendAddressed = Effect.fn("Messenger.send")(function* (
    { command, key, service }: Addressed,
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
  const send: Send = (
    first: Addressed | ServiceName,
    second?: SendOptions | Key,
    command?: Tagged,
    options?: SendOptions
  ) =>
    typeof first === "string"
      ? sendAddressed(
          { service: first, key: typeof second === "string" ? second : "", command: command ?? { _tag: "" } },
          options
        )
      : sendAddressed(first, typeof second === "string" ? {} : second)

  const ask = Effect.fn("Messenger.ask")(function* (addressed: Addressed, options: AskOptions = {}) {
    const { command, key, service } = addressed
    const outcome = outcomeOf(service, command._tag)
    const now = yield* Clock.currentTimeMillis
    const since = options.since ?? new Date(now - 1000).toISOString()
    const { id } = yield* send(addressed, options)
    const keyField = contracts[service].keyField
    const answers = ({ event, meta }: SeenEvent): boolean => {
      if (meta.causation === id) return event._tag === "CommandRefused" || outcome?.events.includes(event._tag) === true
      const isOfActor =
        keyField === undefined ||
        !(keyField in event) ||
        Object.entries(event).some(([name, value]) => name === keyField && value === key)
      return outcome?.cause === "any" && outcome.events.includes(event._tag) && isOfActor
    }
    const runId = options.subject ?? runOf(command, key)
    const seen = yield* events({ runId, services: [service], from: { since } }).pipe(
      Stream.filter(answers),
      Stream.runHead,
      Effect.timeoutOption(options.patience ?? "15 seconds"),
      Effect.map(Option.flatten)
    )
    if (Option.isNone(seen)) return yield* new NoAnswer({ service, command: command._tag })
    const { event } = seen.value
    if (event._tag !== "CommandRefused") return event
    return yield* new Refused({ command: event.command, code: event.code ?? "other", reason: event.reason })
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

  const decoded = <A>(view: Schema.Codec<A, unknown>) => {
    const decode = Schema.decodeUnknownEffect(view)
    return (data: unknown) =>
      Effect.mapError(
        decode(data),
        (error) =>
          new QueryFailed({
            code: "bad-reply",
            message: error.message,
            hint: "Are all services of the same version?"
          })
      )
  }

  const shows = <Service extends ServiceName>(service: Service, view: Schema.Codec<ViewOf<Service>, unknown>) => {
    const read = decoded(view)
    return (id: IdOf<Service>) => Effect.flatMap(query(service, "show", { id }), read)
  }
  const lists = <Service extends ServiceName>(service: Service, view: Schema.Codec<ViewOf<Service>, unknown>) => {
    const read = decoded(Schema.Array(view))
    return (filter: ListFilter = {}) => Effect.flatMap(query(service, "list", filter), read)
  }
  const { gate, orchestrator, reviewer, "session-manager": sessionManager, workspace } = contracts
  const show: Show = {
    orchestrator: shows("orchestrator", orchestrator.view),
    sessionManager: shows("session-manager", sessionManager.view),
    reviewer: shows("reviewer", reviewer.view),
    gate: shows("gate", gate.view),
    workspace: shows("workspace", workspace.view)
  }
  const list: List = {
    orchestrator: lists("orchestrator", orchestrator.view),
    sessionManager: lists("session-manager", sessionManager.view),
    reviewer: lists("reviewer", reviewer.view),
    gate: lists("gate", gate.view),
    workspace: lists("workspace", workspace.view)
  }

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

  // `ask` answers with the outcome that the contract names for the command.
  return Messenger.of({ send, ask: ask as Ask, publish, events, show, list, query, deadLetters })
})

const readLetter = Schema.decodeUnknownResult(Schema.fromJsonString(DeadLetter))

const subjectPattern = (subject: string) => subject.replaceAll(".", "\\.").replaceAll("*", "[^.]+")

interface Names {
  readonly orchestrator: "orchestrator"
  readonly sessionManager: "session-manager"
  readonly reviewer: "reviewer"
  readonly gate: "gate"
  readonly workspace: "workspace"
}
/** One actor's read model, as its journal has it now. An id that nobody has fails with code `not-found`. */
type Show = {
  readonly [Name in keyof Names]: (id: IdOf<Names[Name]>) => Effect.Effect<ViewOf<Names[Name]>, QueryFailed>
}
/** Every actor's read model; it may lag by a moment. */
type List = {
  readonly [Name in keyof Names]: (
    filter?: ListFilter
  ) => Effect.Effect<ReadonlyArray<ViewOf<Names[Name]>>, QueryFailed>
}

interface Send {
  (addressed: Addressed, options?: SendOptions): Effect.Effect<{ readonly id: string }, SendFailed>
  <Command extends Tagged>(
    service: ServiceName,
    key: Key,
    command: Command,
    options?: SendOptions
  ): Effect.Effect<{ readonly id: string }, SendFailed>
}

type Ask = <Service extends ServiceName, Command extends Askable<Service>>(
  addressed: Addressed<Service, Command>,
  options?: AskOptions
) => Effect.Effect<OutcomeOf<Service, Command["_tag"]>, RefusedBy<Service> | NoAnswer | SendFailed | BrokerFault>

export class Messenger extends Context.Service<
  Messenger,
  {
    /** Publishes a command; it is encoded by its schema. The same id is delivered once. */
    readonly send: Send
    /**
     * Sends a command and waits for the event that answers it. Fails with `Refused` when the service refuses it, with
     * `NoAnswer` when nothing answers in time: the command stays stored then. The same id asked again is the same
     * command, and gets the same answer.
     */
    readonly ask: Ask
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
    readonly show: Show
    readonly list: List
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
