/** What a collector of OpenTelemetry was told: spans, log lines and metrics. */
import type { Received } from "@reprise/testing"
import { Schema } from "effect"

const Attribute = Schema.Struct({ key: Schema.String, value: Schema.Struct({ stringValue: Schema.String }) })
const Point = Schema.Struct({
  attributes: Schema.Array(Attribute),
  asDouble: Schema.optionalKey(Schema.Finite),
  asInt: Schema.optionalKey(Schema.Finite)
})
const Lengths = Schema.Struct({
  dataPoints: Schema.Array(Schema.Struct({ attributes: Schema.Array(Attribute), count: Schema.Finite }))
})
const Points = Schema.Struct({ dataPoints: Schema.Array(Point) })
const Span = Schema.Struct({
  traceId: Schema.String,
  name: Schema.String,
  links: Schema.Array(Schema.Struct({ traceId: Schema.String }))
})
const Line = Schema.Struct({ traceId: Schema.optionalKey(Schema.String) })
const Metric = Schema.Struct({
  name: Schema.String,
  sum: Schema.optionalKey(Points),
  gauge: Schema.optionalKey(Points),
  histogram: Schema.optionalKey(Lengths)
})

const read = <A>(item: Schema.Decoder<A>, outer: string, scopes: string, items: string) => {
  const Scope = Schema.Struct({ [items]: Schema.Array(item) })
  const Resource = Schema.Struct({ [scopes]: Schema.Array(Scope) })
  const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ [outer]: Schema.Array(Resource) })))
  return (requests: ReadonlyArray<Received>, path: string) =>
    requests
      .filter((request) => request.path === path)
      .flatMap(({ body }) => decode(body)[outer] ?? [])
      .flatMap((resource) => resource[scopes] ?? [])
      .flatMap((scope) => scope[items] ?? [])
}
export const spansOf = read(Span, "resourceSpans", "scopeSpans", "spans")
export const linesOf = read(Line, "resourceLogs", "scopeLogs", "logRecords")
const metricsOf = read(Metric, "resourceMetrics", "scopeMetrics", "metrics")

/** `reprise_turns_total author completed`, with the value that was told last. */
export const lastValues = (requests: ReadonlyArray<Received>) =>
  new Map(
    metricsOf(requests, "/v1/metrics").flatMap(
      ({ gauge, name, sum }) =>
        (gauge ?? sum)?.dataPoints.map(
          ({ asDouble, asInt, attributes }) =>
            [
              [name, ...attributes.map(({ value }) => value.stringValue)].join(" "),
              asDouble ?? asInt ?? Number.NaN
            ] as const
        ) ?? []
    )
  )

/** A process tells this collector all about itself. */
export const environmentOf = (endpoint: string) => () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  // All of it is sent when the process ends.
  OTEL_EXPORTER_OTLP_TIMEOUT: "60000"
})
