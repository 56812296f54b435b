import { assert, describe, it } from "@effect/vitest"
import { badCollector, collectorsIn, exportsMetrics } from "../src/telemetry.ts"

const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
const here = "http://127.0.0.1:4318"

describe("the collector that the environment names", () => {
  it.each([
    [{}, 0],
    [{ [endpoint]: "" }, 0],
    [{ [endpoint]: here }, 1],
    [{ [endpoint]: here, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${here}/traces` }, 2],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: here }, 1],
    [{ [endpoint]: here, OTEL_SDK_DISABLED: "TRUE" }, 0],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, 0]
  ])("%o: %i", (environment, count) => {
    assert.strictEqual(collectorsIn(environment).length, count)
    assert.strictEqual(badCollector(environment), undefined)
  })

  it.each([
    [{ [endpoint]: "127.0.0.1:4318" }, /^OTEL_EXPORTER_OTLP_ENDPOINT is '127.0.0.1:4318'.*address such as http/],
    [{ [endpoint]: "file:///etc/passwd" }, /address such as http/],
    [{ [endpoint]: here, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: "?" }, /^OTEL_EXPORTER_OTLP_LOGS_ENDPOINT is '\?'/],
    [{ [endpoint]: here, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /_PROTOCOL is 'grpc'.*http\/protobuf/]
  ])("is refused with the next step: %o", (environment, expected) => {
    assert.match(badCollector(environment)?.message ?? "", expected)
  })

  it.each([
    [{}, false],
    [{ [endpoint]: here }, true],
    [{ [endpoint]: here, OTEL_METRICS_EXPORTER: "otlp" }, true],
    [{ [endpoint]: here, OTEL_METRICS_EXPORTER: "none" }, false],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: here }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: here, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: here }, false]
  ])("is told the metrics by %o: %s", (environment, expected) => {
    assert.strictEqual(exportsMetrics(environment), expected)
  })

  it("is not looked at while nothing is to be sent", () => {
    assert.strictEqual(badCollector({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), undefined)
    assert.strictEqual(badCollector({ [endpoint]: "?", OTEL_SDK_DISABLED: "true" }), undefined)
  })
})
