/**
 * pino as Effect's logger. Annotations (`runId`, `phase`, `sessionId`, `turnId`, …) and the ids of the trace become fields of every line;
 * values under names that hold secrets are redacted.
 */
import { chmodSync, constants, fchmodSync, mkdirSync, openSync } from "node:fs"
import { dirname } from "node:path"
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

/** Opens a log for its owner alone, in a folder for its owner alone. A link is not followed: it would lead elsewhere. */
const openLog = (path: string): number => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  fchmodSync(file, 0o600)
  return file
}

/** Lines of JSON to a file (created, appended; opening it can throw) or to standard error (`2`). Times are ISO 8601 UTC. */
export const makePino = (destination: string | 2, level: LogLevel): pino.Logger =>
  pino(
    {
      level: levels[level],
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: "[redacted]" }
    },
    pino.destination({ dest: destination === 2 ? 2 : openLog(destination), sync: true })
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
        const { span } = fiber.cache
        root[name](
          Object.assign(
            span === undefined ? {} : { traceId: span.traceId, spanId: span.spanId },
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
