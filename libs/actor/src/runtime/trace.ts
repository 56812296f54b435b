/** W3C trace context: one trace from the first command of a run to its last event. */
import { Option, Tracer } from "effect"

const pattern = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** The sender's span; none when the header is missing or wrong. */
export const parentSpan = (traceparent: string | undefined): Option.Option<Tracer.ExternalSpan> => {
  const match = pattern.exec(traceparent ?? "")
  if (match?.[1] === undefined || match[2] === undefined) return Option.none()
  const sampled = (Number.parseInt(match[3] ?? "00", 16) & 1) === 1
  return Option.some(Tracer.externalSpan({ traceId: match[1], spanId: match[2], sampled }))
}

/** Options of the span in which a message is handled: part of the sender's trace, or the first of a new one. */
export const continuing = (traceparent: string | undefined): Tracer.SpanOptionsNoTrace =>
  Option.match(parentSpan(traceparent), {
    onNone: () => ({ kind: "consumer", root: true }),
    onSome: (parent) => ({ kind: "consumer", parent })
  })

export const traceparentOf = (span: Tracer.AnySpan): string =>
  `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
