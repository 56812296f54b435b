export * from "./pinoLogger.ts"
export { BadCollector, exportsTelemetry, telemetry } from "./telemetry.ts"
