export * from "./pinoLogger.ts"
