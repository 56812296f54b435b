/**
 * The OpenCode server of this host: a child of ours that is started when it is first needed, watched and started again
 * when it dies, or a server that somebody else runs.
 */
import { Clock, Context, Deferred, Effect, Exit, Layer, Option, type Redacted, Scope, Semaphore } from "effect"
import { healthVersion, isHealthy } from "./health.ts"
import { locateOpenCode, openCodeVersion } from "./locateOpenCode.ts"
import {
  type Connection,
  readOpenCodeEndpoint,
  refuseSecondOwner,
  removeOpenCodeEndpoint,
  writeOpenCodeEndpoint
} from "./OpenCodeEndpoint.ts"
import {
  OpenCodeDidNotStart,
  OpenCodeGaveUp,
  type OpenCodeNotFound,
  type OpenCodeUnavailable
} from "./OpenCodeUnavailable.ts"
import { type RunningServer, startServer } from "./startServer.ts"

export interface OpenCodeOptions {
  /** Absolute path; holds `opencode.json` and `logs/opencode.log`. One live process may use it at a time. */
  readonly stateDirectory: string
  /** Default: ours. The server gets it without Reprise's own settings (serverEnvironment). */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** The program. Default: what `locateOpenCode` finds. */
  readonly command?: string
  /** Start it at once, beside whatever else is going on. Default: with the first call. */
  readonly warm?: boolean
  readonly startTimeoutMs?: number
  /** Dying more often than this within the window, it stays down until it is asked for again. Default 5 in 60 s. */
  readonly maxRestarts?: number
  readonly restartWindowMs?: number
  /** A server that is silent for this long, though its process lives, is started again. Default 30 s. */
  readonly unresponsiveMs?: number
}

export interface OpenCodeServerShape {
  /** The server as it can be reached now. Starts it, and waits while it starts or restarts; its port may change. */
  readonly connection: Effect.Effect<Connection, OpenCodeUnavailable>
  /** The same without starting it: waits until somebody else does. */
  readonly whenStarted: Effect.Effect<Connection>
  readonly isRunning: Effect.Effect<boolean>
  readonly version: Effect.Effect<string, OpenCodeUnavailable>
  /** Of our child that runs now, if it does. */
  readonly pid: Effect.Effect<Option.Option<number>>
  /** The program that opens OpenCode's own interface. */
  readonly program: Effect.Effect<string, OpenCodeNotFound>
  /** For a human: the program and its directory, or the address. */
  readonly location: Effect.Effect<string, OpenCodeNotFound>
}

const make = Effect.fn("OpenCodeServer.make")(function* (options: OpenCodeOptions) {
  const { stateDirectory } = options
  const environment = options.environment ?? process.env
  const program = yield* Effect.cached(
    options.command === undefined ? locateOpenCode(environment) : Effect.succeed(options.command)
  )
  yield* refuseSecondOwner(stateDirectory)
  yield* Effect.addFinalizer(() => removeOpenCodeEndpoint(stateDirectory))

  const scope = yield* Effect.scope
  // Older than the supervisor's fiber, so closed after it: what we stop ourselves is not started again.
  const servers = yield* Scope.fork(scope)
  let running: RunningServer | undefined
  let next = Deferred.makeUnsafe<RunningServer, OpenCodeUnavailable>()
  let supervised = false
  const gate = yield* Semaphore.make(1)

  const startOnce = Effect.fnUntraced(function* () {
    const attempt = yield* Scope.fork(servers)
    const server = yield* startServer({
      program: yield* program,
      stateDirectory,
      environment,
      startTimeoutMs: options.startTimeoutMs ?? 60_000
    }).pipe(
      Effect.tap((it) => writeOpenCodeEndpoint(stateDirectory, it.connection, it)),
      Scope.provide(attempt),
      Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(attempt, exit) : Effect.void))
    )
    return { server, close: Scope.close(attempt, Exit.void) }
  })

  /** Returns why the server is not there any more. */
  const untilDown = Effect.fnUntraced(function* (server: RunningServer) {
    const silent = untilSilent(server.connection, options.unresponsiveMs ?? 30_000)
    return yield* Effect.raceFirst(
      Effect.map(Deferred.await(server.exited), (code) => `it ended with ${code}`),
      Effect.as(silent, "it did not answer any more")
    )
  })

  /** Keeps a server running; ends, with `next` failed, when there is no use in trying on. */
  const supervise = Effect.gen(function* () {
    const windowMs = options.restartWindowMs ?? 60_000
    const maxRestarts = options.maxRestarts ?? 5
    let deaths: ReadonlyArray<number> = []
    for (;;) {
      const started = yield* Effect.result(startOnce())
      let reason: string
      if (started._tag === "Success") {
        const { close, server } = started.success
        running = server
        yield* Deferred.succeed(next, server)
        reason = yield* untilDown(server)
        running = undefined
        next = Deferred.makeUnsafe()
        yield* close
      } else {
        // Before the first success nothing suggests that the next try would do better.
        if (deaths.length === 0 || !(started.failure instanceof OpenCodeDidNotStart))
          return yield* Deferred.fail(next, started.failure)
        reason = started.failure.message
      }
      const now = yield* Clock.currentTimeMillis
      deaths = [...deaths.filter((at) => now - at < windowMs), now]
      if (deaths.length > maxRestarts) {
        const gaveUp = new OpenCodeGaveUp({ restarts: deaths.length - 1, reason })
        yield* Effect.logError(gaveUp.message)
        return yield* Deferred.fail(next, gaveUp)
      }
      yield* Effect.logWarning(`OpenCode is down (${reason}) and is started again.`)
      if (deaths.length > 1) yield* Effect.sleep(`${100 * 2 ** deaths.length} millis`)
    }
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        supervised = false
      })
    )
  )

  const ensureSupervised = gate.withPermits(1)(
    Effect.gen(function* () {
      if (supervised) return
      supervised = true
      if (yield* Deferred.isDone(next)) next = Deferred.makeUnsafe()
      yield* Effect.forkIn(supervise, scope)
    })
  )
  const server = Effect.andThen(
    ensureSupervised,
    Effect.suspend(() => Deferred.await(next))
  )
  const whenStarted = Effect.gen(function* () {
    for (;;) {
      const outcome = yield* Effect.result(Effect.suspend(() => Deferred.await(next)))
      if (outcome._tag === "Success") return outcome.success.connection
      // Down for good; whoever needs it starts it anew.
      yield* Effect.sleep("1 second")
    }
  })
  if (options.warm === true) yield* Effect.forkScoped(Effect.ignore(server))

  return OpenCodeServer.of({
    connection: Effect.map(server, (it) => it.connection),
    whenStarted,
    isRunning: Effect.sync(() => running !== undefined),
    version: Effect.flatMap(program, openCodeVersion),
    pid: Effect.sync(() => Option.map(Option.fromNullishOr(running), (it) => it.pid)),
    program,
    location: Effect.map(program, (it) => `${it}, state in ${stateDirectory}`)
  })
})

/** Returns when the server has not answered for as long as that. */
const untilSilent = Effect.fnUntraced(function* (connection: Connection, silenceMs: number) {
  let heardAt = yield* Clock.currentTimeMillis
  for (;;) {
    yield* Effect.sleep(`${Math.min(5000, silenceMs / 3)} millis`)
    const healthy = yield* isHealthy(connection, Math.min(5000, silenceMs))
    const now = yield* Clock.currentTimeMillis
    if (healthy) heardAt = now
    else if (now - heardAt >= silenceMs) return
  }
})

/** A server that somebody else runs: it is neither started nor stopped. */
const connected = (connection: Connection) =>
  OpenCodeServer.of({
    connection: Effect.succeed(connection),
    whenStarted: Effect.succeed(connection),
    isRunning: isHealthy(connection),
    version: Effect.flatMap(healthVersion(connection, 5000), (version) =>
      Option.isSome(version)
        ? Effect.succeed(version.value)
        : new OpenCodeDidNotStart({ reason: `nothing answers at ${connection.url}`, logFile: "its log", lastLines: [] })
    ),
    pid: Effect.succeed(Option.none()),
    program: locateOpenCode(),
    location: Effect.succeed(connection.url)
  })

export class OpenCodeServer extends Context.Service<OpenCodeServer, OpenCodeServerShape>()(
  "@reprise/agent/OpenCodeServer"
) {
  static readonly layer = (options: OpenCodeOptions) => Layer.effect(OpenCodeServer, make(options))

  static readonly layerConnect = (server: {
    readonly url: string
    readonly password: Redacted.Redacted
    readonly username?: string
  }) =>
    Layer.succeed(
      OpenCodeServer,
      connected({
        url: server.url.replace(/\/+$/, ""),
        username: server.username ?? "opencode",
        password: server.password
      })
    )

  /** The server that a live process runs for a state directory, if one does. */
  static readonly find = readOpenCodeEndpoint
}
