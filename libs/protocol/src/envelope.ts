/**
 * The envelope of every message: CloudEvents 1.0 in NATS binary mode (docs/design/protocol.md#envelope).
 * The body is the payload alone; the type travels in `ce-type`.
 */
import { Result, Schema } from "effect"

const idPattern = /^[\x21-\x7e]{1,200}$/

export const MessageMeta = Schema.Struct({
  /** `ce-id`, and the id by which a stream drops repeats. */
  id: Schema.String.check(Schema.isPattern(idPattern, { message: "must be 1 to 200 visible ASCII characters" })),
  type: Schema.String.check(Schema.isPattern(/^[A-Z][A-Za-z]{0,63}$/)),
  source: Schema.String,
  /** The run (a standalone session: its own id) that the message belongs to. */
  subject: Schema.String,
  /** ISO 8601 UTC. */
  time: Schema.String,
  traceparent: Schema.optionalKey(Schema.String),
  /** Id of the message that led to this one. */
  causation: Schema.optionalKey(Schema.String)
})
export type MessageMeta = typeof MessageMeta.Type

const typePattern = /^dev\.reprise\.([A-Z][A-Za-z]{0,63})\.v1$/

/** The envelope as headers by name; `Nats-Msg-Id` equals `ce-id`. */
export const encodeMeta = (meta: MessageMeta): Record<string, string> => ({
  "Nats-Msg-Id": meta.id,
  "ce-specversion": "1.0",
  "ce-id": meta.id,
  "ce-type": `dev.reprise.${meta.type}.v1`,
  "ce-source": meta.source,
  "ce-subject": meta.subject,
  "ce-time": meta.time,
  "content-type": "application/json",
  ...(meta.traceparent === undefined ? {} : { traceparent: meta.traceparent }),
  ...(meta.causation === undefined ? {} : { "reprise-causation": meta.causation })
})

const decode = Schema.decodeUnknownResult(MessageMeta)

/** A sentence about an unknown version of the envelope or of the message; undefined: both are known. */
export const versionProblem = (header: (name: string) => string): string | undefined => {
  const specversion = header("ce-specversion")
  if (specversion !== "" && specversion !== "1.0") {
    return `ce-specversion is '${specversion.slice(0, 20)}', and only 1.0 is known.`
  }
  const type = header("ce-type")
  if (type === "" || typePattern.test(type)) return undefined
  return `ce-type is '${type.slice(0, 100)}', and only dev.reprise.<Type>.v1 is known.`
}

/** Reads the envelope through a header getter (`""` where a header is missing). Never throws. */
export const decodeMeta = (header: (name: string) => string): Result.Result<MessageMeta, Schema.SchemaError> => {
  const type = typePattern.exec(header("ce-type"))?.[1]
  const traceparent = header("traceparent")
  const causation = header("reprise-causation")
  const meta = {
    id: header("ce-id"),
    type,
    source: header("ce-source"),
    subject: header("ce-subject"),
    time: header("ce-time"),
    ...(traceparent === "" ? {} : { traceparent }),
    ...(causation === "" ? {} : { causation })
  }
  // Headers are texts, so only these two can be wrong. The schema says what is; it is asked for that alone, as each
  // message passes here.
  return type !== undefined && idPattern.test(meta.id) ? Result.succeed({ ...meta, type }) : decode(meta)
}
