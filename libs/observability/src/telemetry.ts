/** Where logs, traces and metrics go: pino always, a collector of OpenTelemetry where the environment names one. */
import { Effect, Layer, Schema } from "effect"
import type pino from "pino"
import { type LogLevel, layerPino } from "./pinoLogger.ts"

export type Environment = Readonly<Record<string, string | undefined>>

const endpoints = ["OTEL_EXPORTER_OTLP_ENDPOINT"].concat(
  ["TRACES", "METRICS", "LOGS"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
)

/** A variable of OpenTelemetry cannot be used. */
export class BadCollector extends Schema.TaggedError<BadCollector>()("BadCollector", {
  variable: Schema.String,
  value: Schema.String,
  /** What to set instead. */
  hint: Schema.String
}) {
  override get message() {
    return `${this.variable} is '${this.value.slice(0, 80)}', which cannot be used. ${this.hint}`
  }
}

const protocolVariable = "OTEL_EXPORTER_OTLP_PROTOCOL"

const isAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The variables that name a collector; none: nothing is exported. */
export const collectorsIn = (environment: Environment): ReadonlyArray<readonly [variable: string, value: string]> =>
  /^true$/i.test(environment["OTEL_SDK_DISABLED"] ?? "")
    ? []
    : endpoints.flatMap((variable) => {
        const value = environment[variable] ?? ""
        return value === "" ? [] : [[variable, value] as const]
      })

export const exportsTelemetry = (environment: Environment): boolean => collectorsIn(environment).length > 0

/** Whether a collector is told the metrics, and not only traces or logs. */
export const exportsMetrics = (environment: Environment): boolean =>
  (environment["OTEL_METRICS_EXPORTER"] || "otlp") === "otlp" &&
  collectorsIn(environment).some(([variable]) => !/_(TRACES|LOGS)_ENDPOINT$/.test(variable))

/** Why nothing can be sent to where the environment says; undefined: it can, or nothing is to be sent. */
export const badCollector = (environment: Environment): BadCollector | undefined => {
  const collectors = collectorsIn(environment)
  const bad = collectors.find(([, value]) => !isAddress(value))
  if (bad !== undefined) {
    return new BadCollector({ variable: bad[0], value: bad[1], hint: "Set an address such as http://127.0.0.1:4318." })
  }
  const protocol = environment[protocolVariable] ?? ""
  return collectors.length === 0 || ["", "http/protobuf", "http/json"].includes(protocol)
    ? undefined
    : new BadCollector({
        variable: protocolVariable,
        value: protocol,
        hint: "Set http/protobuf, the default, or http/json."
      })
}

/** Loaded only where a collector is named: it takes a while, and most commands are short. */
const exported = (name: string, environment: Environment) =>
  Effect.gen(function* () {
    const bad = badCollector(environment)
    if (bad !== undefined) return yield* bad
    if (!exportsTelemetry(environment)) return Layer.empty
    const { openTelemetry } = yield* Effect.promise(() => import("./openTelemetry.ts"))
    return openTelemetry(name, environment)
  }).pipe(Layer.unwrap)

/** `name`: of the program, in traces and metrics, unless `OTEL_SERVICE_NAME` names it. */
export const telemetry = (
  name: string,
  root: pino.Logger,
  level: LogLevel,
  environment: Environment = process.env
): Layer.Layer<never, BadCollector> => Layer.provideMerge(exported(name, environment), layerPino(root, level))
