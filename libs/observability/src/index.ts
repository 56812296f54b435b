export * from "./pinoLogger.ts"
export { BadCollector, exportsMetrics, exportsTelemetry, telemetry } from "./telemetry.ts"
