/**
 * Traces, metrics and logs over OTLP and HTTP, by the variables of OpenTelemetry (docs/operations.md#metrics-and-traces).
 * Wraps the parts of `effect` that are not stable yet.
 */
import { ConfigProvider, Layer } from "effect"
import { layer as fetchClient } from "effect/http/FetchHttpClient"
import { layerFromConfig } from "effect/observability/Otlp"
import { layerJson, layerProtobuf } from "effect/observability/OtlpSerialization"
import type { Environment } from "./telemetry.ts"

/** The standard sends every signal to an endpoint that is set; the library wants them named. */
const everySignal = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }

export const openTelemetry = (name: string, environment: Environment): Layer.Layer<never> => {
  const env = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""))
  const variables = ConfigProvider.fromEnv({ env: { OTEL_SERVICE_NAME: name, ...everySignal, ...env } })
  return layerFromConfig().pipe(
    Layer.provide(environment["OTEL_EXPORTER_OTLP_PROTOCOL"] === "http/json" ? layerJson : layerProtobuf),
    Layer.provide(fetchClient),
    Layer.provide(ConfigProvider.layer(variables))
  )
}
