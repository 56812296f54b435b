/**
 * A private nats-server for one directory. This process starts, watches, restarts and stops it; other processes of the
 * same user find it through `endpoint.json` (`attach`).
 */
import { randomBytes } from "node:crypto"
import { readFile, rm } from "node:fs/promises"
import { Host } from "@reprise/protocol"
import { Clock, Context, Deferred, Effect, Exit, Layer, Option, type Redacted, Ref, Scope } from "effect"
import { derivedSeed, publicKeyOf } from "../access/nkeys.ts"
import type { Tenant } from "../access/permissions.ts"
import { type LocateOptions, locateServer, type ServerNotFound } from "../locate/locateServer.ts"
import type { ServerBinary, ServerUnusable } from "../locate/ServerBinary.ts"
import { Nats } from "../Nats.ts"
import { formatVersion } from "../ServerVersion.ts"
import { defaultStorageBytes, smallestStorageBytes } from "../streams.ts"
import { ServerGaveUp } from "./EmbeddedError.ts"
import { type ConnectionAs, connectionTo, type Endpoint, newSecret, removeEndpoint, writeEndpoint } from "./Endpoint.ts"
import { type AlreadyOwned, acquireOwnership } from "./Ownership.ts"
import { freeBytes, type NewerFormat, onDisk, paths } from "./StateDirectory.ts"
import { renderServerConfig, type ServerSettings } from "./serverConfig.ts"
import { type RunningServer, type StartError, startServer } from "./startServer.ts"

export interface EmbeddedOptions {
  /** Absolute path of the `.reprise` directory, which is created if necessary. */
  readonly directory: string
  /**
   * What only those know who may be a service or the operator here: their keys are made from it. Default: a new one, so
   * that nobody else may.
   */
  readonly secret?: Redacted.Redacted
  /** Whose data it is, and the hosts that may do work. Default: the prefix `reprise`, and the host `local`. */
  readonly tenant?: Tenant
  /** Default: any free port. */
  readonly port?: number
  /**
   * Done as soon as the directory is this process's, before anything of it can change. Its finalizers run when nothing of
   * it can change any more.
   */
  readonly whenOwned?: Effect.Effect<void, never, Scope.Scope>
  /** The storage for new streams. Default: 4 GiB, or half of the free disk space if that is less. */
  readonly storageBytes?: number
  /** Statistics over HTTP on a free loopback port, readable by every user of this machine. Default off. */
  readonly monitoring?: boolean
  /** Default: the one that `locateServer` finds. */
  readonly server?: ServerBinary
  readonly locate?: LocateOptions
  /** The text of `nats.conf`, for a program that is bundled without it. */
  readonly template?: string
  /** JetStream recovers its store before it listens, which takes a while for a large store. Default 180 s. */
  readonly startTimeoutMs?: number
  /** A server that dies more often within the window stays down. Default: 5 in 60 s. */
  readonly maxRestarts?: number
  readonly restartWindowMs?: number
}

export type EmbeddedError = StartError | AlreadyOwned | NewerFormat | ServerNotFound | ServerUnusable

export interface EmbeddedServerShape {
  /** Address and credentials stay the same after restarts; `pid` is that of the first server. */
  readonly endpoint: Endpoint
  /** The one of the options. */
  readonly secret: Redacted.Redacted
  readonly server: ServerBinary
  /** For `ensureStreams`: storage for which the disk has space, so that a quota is full before the disk is. */
  readonly storageBytes: number
  /** The process id of the server that runs now. */
  readonly pid: Effect.Effect<number>
  readonly restarts: Effect.Effect<number>
  /** Never succeeds; fails when the server died too often and stays down. */
  readonly failure: Effect.Effect<never, ServerGaveUp>
}

const templateFile = new URL("../../../../nats.conf", import.meta.url)

interface Keys {
  readonly secret: Redacted.Redacted
  readonly salt: string
}

const settingsFor = (options: EmbeddedOptions, { salt, secret }: Keys): ServerSettings => {
  const { log, nats } = paths(options.directory)
  return {
    host: "127.0.0.1",
    port: options.port ?? -1,
    runDirectory: nats,
    storeDirectory: nats,
    logFile: log,
    tenant: options.tenant ?? { prefix: "reprise", hosts: [Host.make("local")] },
    // Scripts of people have this name in them.
    person: { user: "reprise", password: newSecret(randomBytes(24)) },
    system: { user: "system", password: newSecret(randomBytes(24)) },
    publicKey: (holder) => publicKeyOf(derivedSeed(secret, salt, holder)),
    monitoring: options.monitoring ?? false
  }
}

const brokerQuota = (free: number) =>
  Math.max(smallestStorageBytes, Math.min(defaultStorageBytes, Math.floor(free / 2)))

const describe = Effect.fnUntraced(function* (
  settings: ServerSettings,
  salt: string,
  server: ServerBinary,
  running: RunningServer
): Effect.fn.Return<Endpoint> {
  return {
    version: 2,
    url: `nats://${settings.host}:${running.port}`,
    ...settings.person,
    access: { salt, ...settings.tenant },
    system: settings.system,
    ...Option.match(running.monitorUrl, { onNone: () => ({}), onSome: (monitorUrl) => ({ monitorUrl }) }),
    pid: running.pid,
    serverVersion: formatVersion(server.version),
    ownerPid: process.pid,
    ...(process.getuid === undefined ? {} : { ownerUser: process.getuid() }),
    startedAt: new Date(yield* Clock.currentTimeMillis).toISOString()
  }
})

interface Watched {
  readonly running: Ref.Ref<RunningServer>
  readonly restarts: Ref.Ref<number>
  readonly failure: Deferred.Deferred<never, ServerGaveUp>
  readonly restart: Effect.Effect<RunningServer, StartError>
}

const startAttempts = 4

/** Somebody killed the server, or its guard, before it listened: nothing is wrong with it. */
const wasKilled = (error: StartError): boolean =>
  error._tag === "GuardFailed" || (error._tag === "ServerDidNotStart" && (error.exitCode ?? 0) > 128)

/** Restarts the server whenever it dies. Ends, failing `failure`, when that happens too often. */
const watch = Effect.fnUntraced(function* (watched: Watched, maxRestarts: number, windowMs: number) {
  let attempts: ReadonlyArray<number> = []
  let reason = `it ended with ${yield* Deferred.await((yield* Ref.get(watched.running)).exited)}`
  const round = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    attempts = [...attempts.filter((at) => now - at < windowMs), now]
    if (attempts.length > maxRestarts) {
      const gaveUp = new ServerGaveUp({ restarts: attempts.length - 1, reason })
      yield* Effect.logError(gaveUp.message)
      return yield* gaveUp
    }
    yield* Effect.logWarning(`nats-server is down (${reason}) and is being restarted.`)
    // The first restart is immediate. Later ones wait, each twice as long as the one before.
    if (attempts.length > 1) yield* Effect.sleep(`${50 * 2 ** attempts.length} millis`)
    const outcome = yield* Effect.result(watched.restart)
    if (outcome._tag === "Failure") {
      reason = outcome.failure.message
      return
    }
    yield* Ref.set(watched.running, outcome.success)
    yield* Ref.update(watched.restarts, (count) => count + 1)
    reason = `it ended with ${yield* Deferred.await(outcome.success.exited)}`
  })
  yield* Effect.forever(round).pipe(Effect.catch((gaveUp) => Deferred.fail(watched.failure, gaveUp)))
})

/**
 * Takes the directory, stops what a killed owner left there, starts the server and writes `endpoint.json`. When the scope
 * closes, it removes `endpoint.json`, stops the server and frees the directory, in this order.
 */
const make = Effect.fn("EmbeddedServer.make")(function* (options: EmbeddedOptions) {
  const { directory } = options
  const template = options.template ?? (yield* onDisk(directory, () => readFile(templateFile, "utf8")))
  const server = options.server ?? (yield* locateServer(options.locate))
  yield* acquireOwnership(directory)
  yield* options.whenOwned ?? Effect.void
  yield* removeEndpoint(directory)
  yield* Effect.addFinalizer(() =>
    onDisk(directory, () => rm(paths(directory).config, { force: true })).pipe(Effect.ignore)
  )

  const secret = options.secret ?? newSecret(randomBytes(32))
  const salt = randomBytes(16).toString("base64url")
  const settings = settingsFor(options, { salt, secret })
  const servers = yield* Scope.fork(yield* Effect.scope)
  const start = Effect.fnUntraced(function* (port: number) {
    const attempt = yield* Scope.fork(servers)
    const config = renderServerConfig(template, server.version, { ...settings, port })
    const startTimeoutMs = options.startTimeoutMs ?? 180_000
    return yield* startServer({ directory, server, config, port, startTimeoutMs }).pipe(
      Scope.provide(attempt),
      Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(attempt, exit) : Effect.void))
    )
  })

  const first = yield* start(settings.port).pipe(Effect.retry({ while: wasKilled, times: startAttempts - 1 }))
  const endpoint = yield* describe(settings, salt, server, first)
  yield* Effect.addFinalizer(() => removeEndpoint(directory).pipe(Effect.ignore))
  yield* writeEndpoint(directory, endpoint)

  const running = yield* Ref.make(first)
  const restarts = yield* Ref.make(0)
  const failure = yield* Deferred.make<never, ServerGaveUp>()
  const restart = Effect.gen(function* () {
    const next = yield* start(first.port)
    yield* writeEndpoint(directory, yield* describe(settings, salt, server, next))
    return next
  })
  yield* watch(
    { running, restarts, failure, restart },
    options.maxRestarts ?? 5,
    options.restartWindowMs ?? 60_000
  ).pipe(Effect.forkScoped)

  return EmbeddedServer.of({
    endpoint,
    secret,
    server,
    storageBytes: options.storageBytes ?? brokerQuota(yield* freeBytes(directory)),
    pid: Effect.map(Ref.get(running), ({ pid }) => pid),
    restarts: Ref.get(restarts),
    failure: Deferred.await(failure)
  })
})

/**
 * Needs nothing installed but a nats-server, which `locateServer` can fetch. One live process owns a directory: a second
 * one fails with `AlreadyOwned` and should `attach` instead. The server does not outlive this process, even after
 * kill -9; what it acknowledged is kept for the next start. A server that dies is restarted on the same port.
 *
 * @example Layer.provideMerge(layerEmbeddedConnection({ name: "up" }), EmbeddedServer.layer({ directory: "/repo/.reprise" }))
 */
export class EmbeddedServer extends Context.Service<EmbeddedServer, EmbeddedServerShape>()(
  "@reprise/nats/EmbeddedServer"
) {
  static readonly make = make
  static readonly layer = (options: EmbeddedOptions) => Layer.effect(EmbeddedServer, make(options))
}

/** A connection to the embedded server of this process. Default: as the operator, who may do most. */
export const layerEmbeddedConnection = (options: ConnectionAs) =>
  Layer.effect(
    Nats,
    EmbeddedServer.use(({ endpoint, secret }) =>
      Nats.make(connectionTo(endpoint, { identity: "operator", secret, ...options }))
    )
  )
