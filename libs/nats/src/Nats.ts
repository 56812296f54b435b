/** One connection to the broker, for one service. */
import { readFile } from "node:fs/promises"
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream"
import {
  type ConnectionOptions,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type Status,
  type TlsOptions
} from "@nats-io/transport-node"
import type { OwnServer } from "@reprise/process"
import { Context, Deferred, Effect, Layer, Option, Redacted, Stream, SubscriptionRef } from "effect"
import { authenticatorOf, type Seed, seedIn } from "./access/nkeys.ts"
import { attempt, BrokerRefused, BrokerUnreachable, CredentialsUnreadable, PermissionDenied } from "./BrokerError.ts"
import { checkedConnect } from "./checkedConnect.ts"
import { connectedRequests } from "./connectedRequests.ts"
import { parseServerVersion, type ServerVersion } from "./ServerVersion.ts"

/** How a service identifies itself to the broker. */
export type Credentials =
  | { readonly _tag: "Anonymous" }
  | { readonly _tag: "UserPassword"; readonly user: string; readonly password: Redacted.Redacted }
  | { readonly _tag: "Token"; readonly token: Redacted.Redacted }
  /** A `.creds` file: an nkey and its JWT. */
  | { readonly _tag: "CredsFile"; readonly path: string }
  /** A file with the seed of an nkey. */
  | { readonly _tag: "SeedFile"; readonly path: string }
  | { readonly _tag: "Seed"; readonly seed: Seed }

export interface NatsOptions {
  readonly url: string | ReadonlyArray<string>
  readonly credentials?: Credentials
  /** Shown by the server in its connection list. */
  readonly name: string
  /** Who it is, for messages. Default: the user of the credentials, else the name. */
  readonly identity?: string
  /** Subject prefix of replies. Must be private to the service, or others could read them. Default: `_INBOX_<name>`. */
  readonly inboxPrefix?: string
  readonly connectTimeoutMs?: number
  /** Limit for API requests and acknowledgements of stored messages. */
  readonly requestTimeoutMs?: number
  /** Pause between two attempts to reconnect. Attempts never stop. */
  readonly reconnectWaitMs?: number
  readonly tls?: TlsOptions
  /** To another user's process at its port nothing is sent. Default: the server may be anybody's, anywhere. */
  readonly ownServer?: OwnServer | undefined
}

/** `closed` is final: we closed the connection, or the server no longer accepts this identity. */
export type ConnectionStatus = "connected" | "disconnected" | "closed"

export type ConnectError = BrokerUnreachable | BrokerRefused | CredentialsUnreadable

export interface NatsShape {
  readonly nc: NatsConnection
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  /** Who it is to the server. */
  readonly identity: string
  /** Of the server connected to last; none before its first answer, or when it sends no valid version. */
  readonly serverVersion: Effect.Effect<Option.Option<ServerVersion>>
  readonly status: Effect.Effect<ConnectionStatus>
  /** The current status, then every change. */
  readonly statusChanges: Stream.Stream<ConnectionStatus>
  /** Never succeeds; fails as soon as the server has refused something that this identity may not do. */
  readonly denied: Effect.Effect<never, PermissionDenied>
}

/** The address without user and password, for messages. */
export const displayUrl = (url: string | ReadonlyArray<string>): string =>
  (typeof url === "string" ? [url] : url).map((one) => one.replace(/\/\/[^/?#]*@/, "//")).join(", ")

const isLoopback = (url: string) => /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?(?:127\.|localhost(?:[:/]|$)|\[?::1\]?)/.test(url)

const readCredentials = (path: string) =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: (cause) =>
      new CredentialsUnreadable({ path, reason: cause instanceof Error ? cause.message : String(cause) })
  })

const authenticationOf = Effect.fnUntraced(function* (
  credentials: Credentials
): Effect.fn.Return<Partial<ConnectionOptions>, CredentialsUnreadable> {
  switch (credentials._tag) {
    case "Anonymous":
      return {}
    case "UserPassword":
      return { user: credentials.user, pass: Redacted.value(credentials.password) }
    case "Token":
      return { token: Redacted.value(credentials.token) }
    case "CredsFile": {
      const content = yield* readCredentials(credentials.path)
      if (!content.includes("BEGIN NATS USER JWT")) {
        return yield* new CredentialsUnreadable({ path: credentials.path, reason: "it contains no NATS user JWT" })
      }
      return { authenticator: credsAuthenticator(new Uint8Array(content)) }
    }
    case "SeedFile": {
      const seed = seedIn((yield* readCredentials(credentials.path)).toString("utf8"))
      if (seed === undefined) {
        return yield* new CredentialsUnreadable({
          path: credentials.path,
          reason: "it contains no seed of a user's nkey"
        })
      }
      return { authenticator: authenticatorOf(seed) }
    }
    case "Seed":
      return { authenticator: authenticatorOf(credentials.seed) }
  }
})

const userOf = (credentials: Credentials | undefined): string | undefined =>
  credentials?._tag === "UserPassword" ? credentials.user : undefined

const connectError = (url: string, cause: unknown): BrokerUnreachable | BrokerRefused => {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError
    ? new BrokerRefused({ url, reason })
    : new BrokerUnreachable({ url, reason })
}

/** What a status tells of something that is not permitted. Most of it fails no request: nobody else would learn of it. */
const deniedBy = (event: Status, identity: string): PermissionDenied | undefined => {
  if (event.type !== "error" || !(event.error instanceof errors.PermissionViolationError)) return undefined
  const { operation, subject } = event.error
  return new PermissionDenied({ operation: operation === "publish" ? "publish" : "subscribe", subject, identity })
}

const statusAfter = (event: Status): Option.Option<ConnectionStatus> => {
  switch (event.type) {
    case "disconnect":
    case "reconnecting":
      return Option.some("disconnected")
    case "reconnect":
      return Option.some("connected")
    case "close":
      return Option.some("closed")
    default:
      return Option.none()
  }
}

/** Drains a live connection before closing it. Draining a connection that is down would wait forever. */
const close = (nc: NatsConnection, status: SubscriptionRef.SubscriptionRef<ConnectionStatus>) =>
  Effect.gen(function* () {
    if (nc.isClosed()) return
    if ((yield* SubscriptionRef.get(status)) === "connected") {
      yield* attempt("drain", () => nc.drain()).pipe(Effect.timeoutOption("1 second"), Effect.ignore)
    }
    yield* attempt("close", () => nc.close()).pipe(Effect.ignore)
  })

/**
 * Connects; closes with the scope. Fails when no server answers now; once connected, it reconnects without end. Requests
 * in flight then fail with `RequestTimedOut`, and requests made meanwhile wait for the connection. Surprise: JetStream is
 * not checked here, because an identity with few permissions may not ask; `ensureStreams` and `health` check it.
 *
 * @example program.pipe(Effect.provide(Nats.layer({ url: "nats://broker:4222", name: "gate" })))
 */
const make = Effect.fn("Nats.make")(function* (options: NatsOptions) {
  const url = displayUrl(options.url)
  const authentication = yield* authenticationOf(options.credentials ?? { _tag: "Anonymous" })
  const servers = typeof options.url === "string" ? [options.url] : [...options.url]
  const inboxPrefix = options.inboxPrefix ?? `_INBOX_${options.name.replaceAll(/[^A-Za-z0-9_-]/g, "_")}`
  const driver = yield* Effect.tryPromise({
    try: () =>
      checkedConnect({
        ...authentication,
        servers,
        name: options.name,
        inboxPrefix,
        timeout: options.connectTimeoutMs ?? 10_000,
        maxReconnectAttempts: -1,
        reconnectTimeWait: options.reconnectWaitMs ?? 250,
        // Recording a stack trace costs more than the request itself.
        noAsyncTraces: true,
        ignoreAuthErrorAbort: true,
        ownServer: options.ownServer,
        ...(options.tls === undefined ? {} : { tls: options.tls })
      }),
    catch: (cause) => connectError(url, cause)
  })
  const identity = options.identity ?? userOf(options.credentials) ?? options.name
  const nc = connectedRequests(driver, identity, inboxPrefix)
  const denied = yield* Deferred.make<never, PermissionDenied>()
  const status = yield* SubscriptionRef.make<ConnectionStatus>("connected")
  yield* Effect.addFinalizer(() => close(nc, status))
  if (nc.info?.tls_required !== true && !servers.every(isLoopback)) {
    yield* Effect.logWarning(`The connection to ${url} is not encrypted. Turn TLS on at the NATS server.`)
  }

  yield* Stream.fromAsyncIterable(nc.status(), (cause) => cause).pipe(
    Stream.tap((event) => {
      const refusal = deniedBy(event, identity)
      return refusal === undefined
        ? Effect.void
        : Effect.andThen(Effect.logError(refusal.message), Deferred.fail(denied, refusal))
    }),
    Stream.runForEach((event) =>
      Option.match(statusAfter(event), {
        onNone: () => Effect.logDebug(`broker connection: ${event.type}`),
        onSome: (next) =>
          SubscriptionRef.getAndSet(status, next).pipe(
            Effect.flatMap((before) =>
              before === next ? Effect.void : Effect.logInfo(`The connection to the broker at ${url} is ${next}.`)
            )
          )
      })
    ),
    Effect.ignore,
    Effect.andThen(SubscriptionRef.set(status, "closed")),
    Effect.forkScoped({ startImmediately: true })
  )

  const requests = { timeout: options.requestTimeoutMs ?? 10_000 }
  return Nats.of({
    nc,
    js: jetstream(nc, requests),
    identity,
    jsm: yield* Effect.promise(() => jetstreamManager(nc, { ...requests, checkAPI: false })),
    serverVersion: Effect.sync(() => parseServerVersion(nc.info?.version ?? "")),
    status: SubscriptionRef.get(status),
    statusChanges: SubscriptionRef.changes(status).pipe(Stream.changes),
    denied: Deferred.await(denied)
  })
})

export class Nats extends Context.Service<Nats, NatsShape>()("@reprise/nats/Nats") {
  static readonly make = make
  static readonly layer = (options: NatsOptions) => Layer.effect(Nats, make(options))
}
