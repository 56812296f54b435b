/**
 * pino as Effect's logger. Annotations (`runId`, `phase`, `sessionId`, `turnId`, …) become fields of every line;
 * values under names that hold secrets are redacted.
 */
import { Cause, Layer, Logger, References } from "effect"
import pino from "pino"

const levels = {
  All: "trace",
  Trace: "trace",
  Debug: "debug",
  Info: "info",
  Warn: "warn",
  Error: "error",
  Fatal: "fatal",
  None: "silent"
} as const

export type LogLevel = keyof typeof levels

const secretNames = ["password", "token", "apiKey", "authorization", "secret", "credentials", "pass"]

/** Lines of JSON to a file (created, appended) or to standard error (`2`). Times are ISO 8601 UTC. */
export const makePino = (destination: string | 2, level: LogLevel): pino.Logger =>
  pino(
    {
      level: levels[level],
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: "[redacted]" }
    },
    pino.destination({ dest: destination, sync: true, mkdir: true })
  )

/** Logs of everything inside go to `root`. */
export const layerPino = (root: pino.Logger, level: LogLevel): Layer.Layer<never> =>
  Layer.merge(
    Logger.layer([
      Logger.make(({ cause, fiber, logLevel, message }) => {
        const name = levels[logLevel]
        if (name === "silent") return
        const parts = Array.isArray(message) ? message : [message]
        const text = parts.filter((part) => typeof part !== "object" || part === null).map(String)
        const fields = parts.filter((part) => typeof part === "object" && part !== null)
        root[name](
          Object.assign(
            {},
            fiber.getRef(References.CurrentLogAnnotations),
            ...fields,
            cause.reasons.length > 0 ? { err: Cause.squash(cause) } : {}
          ),
          text.join(" ")
        )
      })
    ]),
    Layer.succeed(References.MinimumLogLevel, level)
  )
