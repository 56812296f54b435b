/**
 * Where the embedded server of a directory listens, for other processes of the same user: `endpoint.json`. Whoever reads
 * it is a person at the gate. To be a service or the operator takes a secret that is not in it.
 */
import { rm } from "node:fs/promises"
import { ownServer, readForeignText, replaceFile } from "@reprise/process"
import { Host } from "@reprise/protocol"
import { Effect, Option, Redacted, Schema } from "effect"
import { type Identity, inboxOf } from "../access/Identity.ts"
import { derivedSeed } from "../access/nkeys.ts"
import type { Credentials, NatsOptions } from "../Nats.ts"
import { onDisk, paths } from "./StateDirectory.ts"

const secret = Schema.RedactedFromValue(Schema.NonEmptyString)
const pid = Schema.Int.check(Schema.isGreaterThan(0))

export const Endpoint = Schema.Struct({
  /** 1: of an older Reprise, whose server has one user for everything. */
  version: Schema.Literals([1, 2]),
  /** Loopback only: a file that came with a cloned repository must not lead anyone elsewhere. */
  url: Schema.String.check(Schema.isPattern(/^nats:\/\/127\.0\.0\.1:\d{1,5}$/)),
  /** A person's. */
  user: Schema.NonEmptyString,
  password: secret,
  /** What the permissions of the server's users are for. None of an older Reprise. */
  access: Schema.optionalKey(
    Schema.Struct({
      /** With the secret of this machine it gives the keys of the services and the operator. */
      salt: Schema.NonEmptyString,
      prefix: Schema.String,
      /** The hosts that may do work. */
      hosts: Schema.Array(Host)
    })
  ),
  /** Can read the server's statistics but none of Reprise's data. */
  system: Schema.Struct({ user: Schema.NonEmptyString, password: secret }),
  /** The server's statistics over HTTP, if they are switched on. */
  monitorUrl: Schema.optionalKey(Schema.String),
  /** The process id of the server. */
  pid,
  serverVersion: Schema.String,
  /** The process id of the owner. */
  ownerPid: pid,
  /** Whose processes both are. None of an older Reprise. */
  ownerUser: Schema.optionalKey(Schema.Int),
  startedAt: Schema.String
})
export type Endpoint = typeof Endpoint.Type

const Json = Schema.fromJsonString(Endpoint)
const decode = Schema.decodeUnknownEffect(Json)
const encode = Schema.encodeSync(Json)

const credentialsOf = (endpoint: Endpoint, identity: Identity, secret: Redacted.Redacted | undefined): Credentials => {
  const { access, password, user } = endpoint
  return access === undefined || identity === "person" || secret === undefined
    ? { _tag: "UserPassword", user, password }
    : { _tag: "Seed", seed: derivedSeed(secret, access.salt, identity) }
}

export interface ConnectionAs extends Partial<Omit<NatsOptions, "identity" | "inboxPrefix">> {
  /** Shown by the server in its list of connections. */
  readonly name: string
  /** Default: a person. */
  readonly identity?: Identity
  /** The one with which the server was started. Only a person needs none. */
  readonly secret?: Redacted.Redacted
}

/** Connection options for the server of an endpoint; `options` override them. */
export const connectionTo = (
  endpoint: Endpoint,
  { identity = "person", secret, ...options }: ConnectionAs
): NatsOptions => ({
  url: endpoint.url,
  credentials: credentialsOf(endpoint, identity, secret),
  identity,
  inboxPrefix: inboxOf(identity),
  reconnectWaitMs: 50,
  ownServer: ownServer(endpoint.pid, endpoint.ownerUser),
  ...options
})

/** The same for the user that reads the server's statistics, and nothing else. */
export const systemConnectionTo = (endpoint: Endpoint, name: string): NatsOptions => ({
  url: endpoint.url,
  name,
  credentials: { _tag: "UserPassword", ...endpoint.system },
  inboxPrefix: inboxOf("person"),
  ownServer: ownServer(endpoint.pid, endpoint.ownerUser)
})

/** Whether two descriptions are of the server of one owner, which may have started it again. */
export const isSameServer = (one: Endpoint, other: Endpoint): boolean =>
  Redacted.value(one.password) === Redacted.value(other.password)

/** A description without secrets, for logs and messages. */
export const describeEndpoint = (endpoint: Endpoint): string =>
  `${endpoint.url} (nats-server ${endpoint.serverVersion}, process ${endpoint.ownerPid})`

/**
 * Reads `endpoint.json`. None without the file, and, with a warning, when it is damaged: its owner rewrites it at every
 * start. Surprise: the file may be left over from a killed process; use `attach` for an endpoint that is alive.
 */
export const readEndpoint = Effect.fnUntraced(function* (directory: string) {
  const file = paths(directory).endpoint
  const text = yield* onDisk(directory, () => readForeignText(file, { largestBytes: 64 * 1024, follow: false })).pipe(
    Effect.catch((error) => Effect.logWarning(error.message).pipe(Effect.as(undefined)))
  )
  if (text === undefined) return Option.none<Endpoint>()
  return yield* decode(text).pipe(
    Effect.map(Option.some),
    Effect.catch(() =>
      Effect.logWarning(`${file} is damaged or has another version, and is ignored.`).pipe(
        Effect.as(Option.none<Endpoint>())
      )
    )
  )
})

/** Only the user can read the file. */
export const writeEndpoint = (directory: string, endpoint: Endpoint) =>
  onDisk(directory, () => replaceFile(paths(directory).endpoint, `${encode(endpoint)}\n`))

export const removeEndpoint = (directory: string) =>
  onDisk(directory, () => rm(paths(directory).endpoint, { force: true }))

export const newSecret = (bytes: Uint8Array): Redacted.Redacted =>
  Redacted.make(Buffer.from(bytes).toString("base64url"))
