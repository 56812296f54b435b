/** What traces and logs record about a message: its position in a W3C trace, and the ids to search log lines by. */
import { idsAround, type Key, type MessageMeta, type ServiceName } from "@reprise/protocol"
import { Option, Predicate, Tracer } from "effect"

/** Each part has its place: the version, the trace, the span, the flags. */
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** The sender's span; none when the header is missing or wrong. */
export const parentSpan = (traceparent: string | undefined): Option.Option<Tracer.ExternalSpan> => {
  const [parent] = traceparent?.match(traceparentPattern) ?? []
  if (parent === undefined) return Option.none()
  const sampled = (Number.parseInt(parent.slice(53), 16) & 1) === 1
  return Option.some(Tracer.externalSpan({ traceId: parent.slice(3, 35), spanId: parent.slice(36, 52), sampled }))
}

/**
 * Options of the span in which a message is handled: part of the sender's trace, or the first of a new one. `own`: where
 * the actor's trace began. A message from outside of that trace, such as a human's answer, does not begin another: its
 * span is part of the actor's trace and linked to the sender's.
 */
export const continuing = (sender: string | undefined, own?: string): Tracer.SpanOptionsNoTrace => {
  const from = Option.getOrUndefined(parentSpan(sender))
  const begin = Option.getOrUndefined(parentSpan(own))
  const parent = from?.traceId === begin?.traceId ? from : (begin ?? from)
  if (parent === undefined) return { kind: "consumer", root: true }
  const links = from === undefined || from === parent ? [] : [{ span: from, attributes: {} }]
  return { kind: "consumer", parent, ...(links.length === 0 ? {} : { links }) }
}

export const traceparentOf = (span: Tracer.AnySpan): string =>
  `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`

const idNames = ["runId", "phase", "step", "sessionId", "turnId", "escalationId"]

/** Adds the ids that stand in a message. */
const addIds = (ids: Record<string, string>, message: unknown): void => {
  if (!Predicate.isObject(message)) return
  for (const name of idNames) {
    const id = Reflect.get(message, name)
    if (typeof id === "string") ids[name] = id
  }
}

/** The ids that annotate a line in the logs: of the message's address, of the command or event it carries, and its own. */
export const logIds = (service: ServiceName, key: Key, meta: MessageMeta, message: object): Record<string, string> => {
  const ids: Record<string, string> = { ...idsAround(service, key, meta.subject) }
  for (const part of [Reflect.get(message, "command"), Reflect.get(message, "event"), message]) addIds(ids, part)
  return ids
}
