/** Where the embedded server of a directory listens, for other processes of the same user: `endpoint.json`. */
import { rm } from "node:fs/promises"
import { readIfPresent, replaceFile } from "@reprise/process"
import { Effect, Option, Redacted, Schema } from "effect"
import type { Credentials } from "../Nats.ts"
import { onDisk, paths } from "./StateDirectory.ts"

const secret = Schema.RedactedFromValue(Schema.NonEmptyString)
const pid = Schema.Int.check(Schema.isGreaterThan(0))

export const Endpoint = Schema.Struct({
  version: Schema.Literal(1),
  /** Loopback only: a file that came with a cloned repository must not lead anyone elsewhere. */
  url: Schema.String.check(Schema.isPattern(/^nats:\/\/127\.0\.0\.1:\d{1,5}$/)),
  user: Schema.NonEmptyString,
  password: secret,
  /** May read the server's statistics, and nothing that Reprise stores. */
  system: Schema.Struct({ user: Schema.NonEmptyString, password: secret }),
  /** The server's statistics over HTTP, when they were asked for. */
  monitorUrl: Schema.optionalKey(Schema.String),
  /** Of the server. */
  pid,
  serverVersion: Schema.String,
  /** Of the process that runs it. */
  ownerPid: pid,
  startedAt: Schema.String
})
export type Endpoint = typeof Endpoint.Type

const Json = Schema.fromJsonString(Endpoint)
const decode = Schema.decodeUnknownEffect(Json)
const encode = Schema.encodeSync(Json)

export const credentialsOf = (endpoint: Endpoint): Credentials => ({
  _tag: "UserPassword",
  user: endpoint.user,
  password: endpoint.password
})

export const systemCredentialsOf = (endpoint: Endpoint): Credentials => ({ _tag: "UserPassword", ...endpoint.system })

/** Shown in logs and messages: nothing secret. */
export const describeEndpoint = (endpoint: Endpoint): string =>
  `${endpoint.url} (nats-server ${endpoint.serverVersion}, process ${endpoint.ownerPid})`

/**
 * What `endpoint.json` says. None without the file, and, with a warning, when it cannot be understood: its owner
 * writes it anew at every start. It may be left over from a process that was killed; `attach` knows.
 */
export const readEndpoint = Effect.fnUntraced(function* (directory: string) {
  const file = paths(directory).endpoint
  const text = yield* onDisk(directory, () => readIfPresent(file)).pipe(
    Effect.catch((error) => Effect.logWarning(error.message).pipe(Effect.as(undefined)))
  )
  if (text === undefined) return Option.none<Endpoint>()
  return yield* decode(text).pipe(
    Effect.map(Option.some),
    Effect.catch(() =>
      Effect.logWarning(`${file} is damaged or of another version, and is left aside.`).pipe(
        Effect.as(Option.none<Endpoint>())
      )
    )
  )
})

/** Readable by its owner alone; replaced in one step. */
export const writeEndpoint = (directory: string, endpoint: Endpoint) =>
  onDisk(directory, () => replaceFile(paths(directory).endpoint, `${encode(endpoint)}\n`))

export const removeEndpoint = (directory: string) =>
  onDisk(directory, () => rm(paths(directory).endpoint, { force: true }))

export const newSecret = (bytes: Uint8Array): Redacted.Redacted =>
  Redacted.make(Buffer.from(bytes).toString("base64url"))
