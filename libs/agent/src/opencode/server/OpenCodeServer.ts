/**
 * The OpenCode server of this host: either a child of this process, which is started on first use, watched and restarted,
 * or a server that somebody else runs.
 */

import { delimiter } from "node:path"
import { pathToFileURL } from "node:url"
import { Sandbox, type SandboxShape } from "@reprise/sandbox"
import { Context, Deferred, Effect, Exit, Layer, Option, type Redacted, Schedule, Scope, Semaphore } from "effect"
import { afterEnd, endingText, endsText, noEnds, type RestartLimits, wasKilled } from "../../restarts.ts"
import { steadyMs } from "../../steadyMs.ts"
import { healthVersion, isHealthy } from "./http.ts"
import { locateOpenCode, openCodeVersion } from "./locateOpenCode.ts"
import {
  type Connection,
  logFile,
  readOpenCodeEndpoint,
  refuseSecondOwner,
  removeOpenCodeEndpoint,
  writeOpenCodeEndpoint
} from "./OpenCodeEndpoint.ts"
import {
  OpenCodeDidNotStart,
  OpenCodeGaveUp,
  type OpenCodeNotFound,
  type OpenCodeNotPermitted,
  OpenCodeStateFault,
  type OpenCodeUnavailable,
  OpenCodeUnguarded
} from "./OpenCodeUnavailable.ts"
import { withOwnSettings } from "./ownSettings.ts"
import { makeServerFolder, pluginIn } from "./serverFolder.ts"
import { type RunningServer, startServer } from "./startServer.ts"

type Environment = Readonly<Record<string, string | undefined>>

export interface OpenCodeOptions {
  /** Absolute path; holds `opencode.json` and `logs/opencode.log`. Only one live process can use it at a time. */
  readonly stateDirectory: string
  /** Default: this process's. Reprise's own variables are withheld from the server. */
  readonly environment?: Environment
  /** The program to run. Default: the one that `locateOpenCode` finds. */
  readonly command?: string
  /** Start in the background at once. Default: with the first call. */
  readonly warm?: boolean
  /** A start loads the configuration and plugins. Default 180 s. */
  readonly startTimeoutMs?: number
  /** After them a server that ends again and again stays down until the next call. Default: those of every agent. */
  readonly restarts?: RestartLimits
  /** Checked before each start, so that a server whose agents could not work is not started. */
  readonly permit?: Effect.Effect<void, OpenCodeNotPermitted>
  /** A server that runs but does not answer for this long is restarted. Default 60 s. */
  readonly unresponsiveMs?: number
}

export interface OpenCodeServerShape {
  /** How to reach the server now. Starts it, and waits while it starts or restarts. The port can change each time. */
  readonly connection: Effect.Effect<Connection, OpenCodeUnavailable>
  /** Waits until the program of a first start runs, or cannot be run: from then on the start needs this process no more. */
  readonly launched: Effect.Effect<void>
  /** Waits for the server without starting it. */
  readonly whenStarted: Effect.Effect<Connection>
  readonly isRunning: Effect.Effect<boolean>
  /** It answers about its health, or we are starting it: whoever waits for an answer can go on waiting. */
  readonly isAlive: Effect.Effect<boolean>
  readonly version: Effect.Effect<string, OpenCodeUnavailable>
  /** The process id of our running child, if any. */
  readonly pid: Effect.Effect<Option.Option<number>>
  /** The program that opens OpenCode's own interface. */
  readonly program: Effect.Effect<string, OpenCodeNotFound>
  /** Text for humans: the program and its state directory, or the address. */
  readonly location: Effect.Effect<string, OpenCodeNotFound>
  /** The state directory in which its plugin looks for `tellInstructions`; absent: it has no plugin, as far as Reprise can tell. */
  readonly tellsIn?: string
  /** The sandbox that its commands run in; absent: in none, as far as Reprise can tell. */
  readonly sandbox?: SandboxShape
  /** What file tools may not change in a directory without a question, whether commands run in a sandbox or not. */
  readonly protectedPaths: SandboxShape["protectedPaths"]
}

/** Keeps our server running: what is configured, and what runs now. */
interface Supervisor {
  readonly options: OpenCodeOptions
  readonly program: Effect.Effect<string, OpenCodeNotFound>
  readonly sandbox: SandboxShape | undefined
  /** Closes after the supervising fiber, so that a server that we stop ourselves is not started again. */
  readonly servers: Scope.Scope
  /** Where the supervising fiber lives. */
  readonly scope: Scope.Scope
  /** Serializes `ensureSupervised`. */
  readonly starting: Semaphore.Semaphore
  /** Done when the program of the first start runs, or cannot be run. */
  readonly launched: Deferred.Deferred<void>
  running: RunningServer | undefined
  /** Done with the server that runs now, or with the reason why none can. */
  next: Deferred.Deferred<RunningServer, OpenCodeUnavailable>
  isSupervised: boolean
}

const ownSettings = (environment: Environment, plugin?: string) =>
  Effect.fromResult(withOwnSettings(environment, plugin)).pipe(Effect.mapError((why) => new OpenCodeUnguarded(why)))

/** Without these variables commands, and git, would run unguarded, so a server that cannot get them does not start. */
const guardedBy = Effect.fnUntraced(function* (
  sandbox: SandboxShape | undefined,
  environment: Environment,
  folder: string
) {
  if (sandbox === undefined) return yield* ownSettings(environment)
  const { git, shell } = yield* Effect.all({ git: sandbox.serverGit, shell: sandbox.serverShell }).pipe(
    Effect.mapError((cause) => new OpenCodeStateFault({ operation: "preparing the sandbox", cause }))
  )
  const settings = yield* ownSettings(environment, pathToFileURL(pluginIn(folder)).href)
  return { ...settings, SHELL: shell, PATH: [git, environment["PATH"]].join(delimiter) }
})

const startOnce = Effect.fnUntraced(function* ({ launched, options, program, sandbox, servers }: Supervisor) {
  const { environment = process.env, permit = Effect.void, startTimeoutMs = 180_000, stateDirectory } = options
  yield* permit
  const attempt = yield* Scope.fork(servers)
  const folder = yield* makeServerFolder(environment, stateDirectory)
  const guarded = yield* guardedBy(sandbox, environment, folder)
  const how = { program: yield* program, folder, stateDirectory, environment, startTimeoutMs, guarded, launched }
  const server = yield* startServer(how).pipe(
    Effect.tap((it) => writeOpenCodeEndpoint(stateDirectory, it.connection, it)),
    Scope.provide(attempt),
    Effect.onExit((exit) => (Exit.isFailure(exit) ? Scope.close(attempt, exit) : Effect.void))
  )
  return { server, close: Scope.close(attempt, Exit.void) }
})

/** How long a machine with much to do may need for an answer about the server's health. */
const patienceMs = 5000

/** Returns when the server has not answered for that long. */
const untilSilent = Effect.fnUntraced(function* (connection: Connection, silenceMs: number) {
  let heardAt = yield* steadyMs
  const isSilent = Effect.gen(function* () {
    const healthy = yield* isHealthy(connection, Math.min(patienceMs, silenceMs))
    const now = yield* steadyMs
    if (healthy) heardAt = now
    return now - heardAt >= silenceMs
  })
  yield* Effect.delay(isSilent, `${Math.min(5000, silenceMs / 3)} millis`).pipe(
    Effect.repeat({ until: (silent) => silent })
  )
})

/** Returns why the server is down. */
const untilDown = ({ options }: Supervisor, server: RunningServer) =>
  Effect.raceFirst(
    Effect.map(Deferred.await(server.exited), endingText),
    Effect.as(untilSilent(server.connection, options.unresponsiveMs ?? 60_000), "it stopped answering")
  )

/** How a server ended: why, and whether it had answered before. */
interface Down {
  readonly reason: string
  readonly answered: boolean
}

/**
 * Whether the next start may go better. A program that somebody killed says nothing about it; one that fails by itself
 * would fail again, unless it has run before.
 */
const mayStartAgain = (failure: OpenCodeUnavailable, hasAnswered: boolean): failure is OpenCodeDidNotStart =>
  failure instanceof OpenCodeDidNotStart && (hasAnswered || wasKilled(failure.exitCode ?? 0))

/** Runs a server until it is down. Fails when starting again is useless. */
const runOnce = Effect.fnUntraced(function* (
  supervisor: Supervisor,
  hasAnswered: boolean
): Effect.fn.Return<Down, OpenCodeUnavailable> {
  const started = yield* Effect.result(startOnce(supervisor))
  if (started._tag === "Failure") {
    if (!mayStartAgain(started.failure, hasAnswered)) return yield* started.failure
    return { reason: `it did not answer yet, and ${started.failure.reason}`, answered: false }
  }
  const { close, server } = started.success
  supervisor.running = server
  yield* Deferred.succeed(supervisor.next, server)
  const reason = yield* untilDown(supervisor, server)
  supervisor.running = undefined
  supervisor.next = Deferred.makeUnsafe()
  yield* close
  return { reason, answered: true }
})

/** Restarts the server whenever it is down; ends, with `next` failed, when it cannot be kept running. */
const supervise = (supervisor: Supervisor) => {
  const { restarts, stateDirectory } = supervisor.options
  let history = noEnds
  let hasAnswered = false
  const round = Effect.gen(function* () {
    const { answered, reason } = yield* runOnce(supervisor, hasAnswered)
    hasAnswered ||= answered
    const next = afterEnd(history, { answered, now: yield* steadyMs }, restarts)
    if (next._tag === "give-up") {
      const gaveUp = new OpenCodeGaveUp({ ends: endsText(next), reason, logFile: logFile(stateDirectory) })
      yield* Effect.logError(gaveUp.message)
      return yield* gaveUp
    }
    history = next.history
    yield* Effect.logWarning(`OpenCode is down (${reason}) and is being restarted.`)
    yield* Effect.sleep(`${next.pauseMs} millis`)
  })
  // Whoever hears of the failure may ask for a start at once.
  const over = Effect.sync(() => {
    supervisor.isSupervised = false
  })
  return Effect.forever(round).pipe(
    Effect.catch((failure) => Effect.andThen(over, Deferred.fail(supervisor.next, failure))),
    Effect.ensuring(Effect.sync(() => Deferred.doneUnsafe(supervisor.launched, Effect.void))),
    Effect.onInterrupt(() => over)
  )
}

const ensureSupervised = (supervisor: Supervisor) =>
  supervisor.starting.withPermits(1)(
    Effect.gen(function* () {
      if (supervisor.isSupervised) return
      supervisor.isSupervised = true
      if (yield* Deferred.isDone(supervisor.next)) supervisor.next = Deferred.makeUnsafe()
      yield* Effect.forkIn(supervise(supervisor), supervisor.scope)
    })
  )

const make = Effect.fn("OpenCodeServer.make")(function* (options: OpenCodeOptions) {
  const { stateDirectory } = options
  const program = yield* Effect.cached(
    options.command === undefined ? locateOpenCode(options.environment) : Effect.succeed(options.command)
  )
  yield* refuseSecondOwner(stateDirectory)
  yield* Effect.addFinalizer(() => removeOpenCodeEndpoint(stateDirectory))

  const scope = yield* Effect.scope
  const { standing, ...methods } = yield* Sandbox
  const sandbox = standing._tag === "used" ? { standing, ...methods } : undefined
  const supervisor: Supervisor = {
    options,
    program,
    sandbox,
    servers: yield* Scope.fork(scope),
    scope,
    starting: yield* Semaphore.make(1),
    launched: Deferred.makeUnsafe(),
    running: undefined,
    next: Deferred.makeUnsafe(),
    isSupervised: false
  }
  const current = Effect.suspend(() => Deferred.await(supervisor.next))
  const started = Effect.andThen(ensureSupervised(supervisor), current)
  if (options.warm === true) yield* Effect.forkScoped(Effect.ignore(started))

  return OpenCodeServer.of({
    connection: Effect.map(started, ({ connection }) => connection),
    launched: Deferred.await(supervisor.launched),
    // While the server is down for good, waits for somebody who needs it and starts it again.
    whenStarted: current.pipe(
      Effect.map(({ connection }) => connection),
      Effect.retry(Schedule.spaced("1 second")),
      Effect.orDie
    ),
    isRunning: Effect.sync(() => supervisor.running !== undefined),
    isAlive: Effect.suspend(() =>
      supervisor.running === undefined
        ? Effect.succeed(supervisor.isSupervised)
        : isHealthy(supervisor.running.connection, patienceMs)
    ),
    version: Effect.flatMap(program, openCodeVersion),
    pid: Effect.sync(() => Option.map(Option.fromNullishOr(supervisor.running), ({ pid }) => pid)),
    program,
    location: Effect.map(program, (path) => `${path}, state in ${stateDirectory}`),
    protectedPaths: methods.protectedPaths,
    ...(sandbox === undefined ? {} : { sandbox, tellsIn: stateDirectory })
  })
})

/** A server that somebody else runs: never started or stopped from here. */
const connected = (connection: Connection, { protectedPaths }: SandboxShape) =>
  OpenCodeServer.of({
    connection: Effect.succeed(connection),
    launched: Effect.void,
    whenStarted: Effect.succeed(connection),
    isRunning: isHealthy(connection),
    isAlive: isHealthy(connection, patienceMs),
    version: Effect.flatMap(healthVersion(connection, patienceMs), (version) =>
      Option.isSome(version)
        ? Effect.succeed(version.value)
        : new OpenCodeDidNotStart({ reason: `nothing answers at ${connection.url}`, logFile: "its log", lastLines: [] })
    ),
    pid: Effect.succeed(Option.none()),
    program: locateOpenCode(),
    location: Effect.succeed(connection.url),
    protectedPaths
  })

export class OpenCodeServer extends Context.Service<OpenCodeServer, OpenCodeServerShape>()(
  "@reprise/agent/OpenCodeServer"
) {
  static readonly layer = (options: OpenCodeOptions) => Layer.effect(OpenCodeServer, make(options))

  static readonly layerConnect = (server: {
    readonly url: string
    readonly password: Redacted.Redacted
    readonly username?: string
    readonly ownServer?: Connection["ownServer"]
  }) =>
    Layer.effect(
      OpenCodeServer,
      Sandbox.useSync((sandbox) =>
        connected(
          {
            url: server.url.replace(/(?<!\/)\/+$/, ""),
            username: server.username ?? "opencode",
            password: server.password,
            ownServer: server.ownServer
          },
          sandbox
        )
      )
    )

  /** The server that a live process runs for a state directory, if any. */
  static readonly find = readOpenCodeEndpoint
}
