/** Sending commands and publishing events from the edges. */
import {
  type Addressed,
  defined,
  type MessageMeta,
  type PublicEvent,
  type ServiceName,
  subjects as subjectsOf
} from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import type { BrokerShape } from "../broker/Broker.ts"
import { NewId } from "../newId.ts"
import { traceparentOf } from "../runtime/telemetry.ts"
import { encodeCommand, encodeEvent } from "../wire.ts"

/** The message was not stored, or does not match its schema. */
export class SendFailed extends Schema.TaggedError<SendFailed>()("SendFailed", {
  what: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.what} was not sent: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}`
  }
}

export interface SendOptions {
  /** The message's id: a message of the same id is stored once. Default: a new one. */
  readonly id?: string
  /** Id of the message that led to this one. */
  readonly causation?: string
  /** The run it belongs to. Default: the command's `runId`, else the key. */
  readonly subject?: string
  /** Continues this trace. Default: the current span's, or a new one. */
  readonly traceparent?: string
}

export type Send = (addressed: Addressed, options?: SendOptions) => Effect.Effect<{ readonly id: string }, SendFailed>

export type Publish = (
  service: ServiceName,
  event: PublicEvent,
  options?: SendOptions
) => Effect.Effect<void, SendFailed>

/** The run that a message names, or `otherwise`. */
export const runIdOf = (message: object, otherwise: string): string =>
  "runId" in message && typeof message.runId === "string" ? message.runId : otherwise

/** The whole envelope; the trace goes on from the caller's. */
const metaOf = Effect.fnUntraced(function* (source: string, type: string, run: string, options: SendOptions) {
  const now = yield* Clock.currentTimeMillis
  const span = yield* Effect.result(Effect.currentParentSpan)
  const traceparent = options.traceparent ?? (Result.isSuccess(span) ? traceparentOf(span.success) : undefined)
  return {
    id: options.id ?? (yield* NewId)(),
    type,
    source,
    subject: options.subject ?? run,
    time: new Date(now).toISOString(),
    ...defined({ traceparent, causation: options.causation })
  } satisfies MessageMeta
})

/** Encodes and stores; `subject` and `payload` throw when the message breaks the protocol. */
const store = (broker: BrokerShape, meta: MessageMeta, subject: () => string, payload: () => object) =>
  Effect.try({
    try: () => ({ subject: subject(), body: JSON.stringify(payload()), meta }),
    catch: (cause) => cause
  }).pipe(
    Effect.flatMap((message) => broker.publish([message])),
    Effect.mapError((cause) => new SendFailed({ what: meta.type, cause }))
  )

export const makeSend = (broker: BrokerShape, { host, prefix }: ActorSettings): Send => {
  const subjects = subjectsOf(prefix)
  return Effect.fn("Messenger.send")(function* ({ command, key, service }, options = {}) {
    const meta = yield* metaOf(`/${service}/${host}`, command._tag, runIdOf(command, key), options)
    yield* store(
      broker,
      meta,
      () => subjects.command(service, key),
      () => encodeCommand(service, command)
    )
    return { id: meta.id }
  })
}

export const makePublish = (broker: BrokerShape, { host, prefix }: ActorSettings): Publish => {
  const subjects = subjectsOf(prefix)
  return Effect.fn("Messenger.publish")(function* (service, event, options = {}) {
    const meta = yield* metaOf(`/${service}/${host}`, event._tag, event.runId, options)
    yield* store(
      broker,
      meta,
      () => subjects.event(service, event.runId, event._tag),
      () => encodeEvent(event)
    )
  })
}
