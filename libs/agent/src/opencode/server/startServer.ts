/** Starts the OpenCode server once and waits until it answers. */
import { randomBytes } from "node:crypto"
import { mkdir, realpath, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import {
  endLeftovers,
  freePort,
  type GuardedProcess,
  hasPrinted,
  isPortTaken,
  lastLines,
  logSize,
  type Mark,
  ownServer,
  startGuarded,
  variableOf
} from "@reprise/process"
import { Deferred, Effect, Redacted, Schedule, Schema, type Scope } from "effect"
import { openCodeEnvironment } from "../../agentEnvironment.ts"
import { endingText } from "../../restarts.ts"
import { isHealthy } from "./http.ts"
import { type Connection, logFile, onDisk } from "./OpenCodeEndpoint.ts"
import { OpenCodeDidNotStart, OpenCodeStateFault, type OpenCodeUnavailable } from "./OpenCodeUnavailable.ts"
import { instructionsFolder, instructionsVariable } from "./toldInstructions.ts"

export interface StartOptions {
  readonly program: string
  /** In which it runs. Nothing there, or above it, may be an agent's or a repository's. */
  readonly folder: string
  readonly stateDirectory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly startTimeoutMs: number
  /** Variables that put the agents' commands into the sandbox. */
  readonly guarded: Readonly<Record<string, string>>
  /** Done when the program runs, long before it answers. */
  readonly launched: Deferred.Deferred<void>
}

export interface RunningServer extends GuardedProcess {
  readonly connection: Connection
}

const keptLogBytes = 8 * 1024 * 1024

/** The mark of the server and its tools: the same for every start on a state directory. */
export const markOf = (stateDirectory: string): Effect.Effect<Mark, OpenCodeStateFault> =>
  onDisk("resolving the state directory", async () => {
    await mkdir(stateDirectory, { recursive: true })
    return `REPRISE_OPENCODE_STATE=${await realpath(stateDirectory)}` as const
  })

/** Returns the offset at which this start's output begins. A large log is moved away first. */
const prepareLog = (log: string) =>
  onDisk("preparing the log", async () => {
    await mkdir(dirname(log), { recursive: true })
    const size = await logSize(log)
    if (size < keptLogBytes) return size
    await rename(log, `${log}.1`)
    return 0
  })

/**
 * Where OpenCode unpacks its native library at each start: it never removes it, and a temporary folder of the machine would
 * grow with every start that was killed. Bun alone reads the variable; the agent's tools keep the machine's folder.
 */
const unpackedFolder = (stateDirectory: string) => join(stateDirectory, "opencode-unpacked")

const removeUnpacked = (stateDirectory: string) =>
  onDisk("removing what OpenCode has unpacked", () =>
    rm(unpackedFolder(stateDirectory), { recursive: true, force: true, maxRetries: 5 })
  )

const prepareUnpacked = (stateDirectory: string) =>
  Effect.andThen(
    removeUnpacked(stateDirectory),
    onDisk("preparing a folder for what OpenCode unpacks", () =>
      mkdir(unpackedFolder(stateDirectory), { recursive: true, mode: 0o700 })
    )
  )

/**
 * The port stands in the arguments, which every user can read, before anybody holds it: whoever listens there until OpenCode
 * does would be told the password, and believed. OpenCode's own SDK waits for this line too.
 */
const untilListening = (log: string, from: number, url: string) =>
  onDisk("reading the log", () => hasPrinted(log, from, `opencode server listening on ${url}`)).pipe(
    Effect.repeat({ until: (printed) => printed, schedule: Schedule.spaced("20 millis") })
  )

const untilHealthy = (connection: Connection) =>
  isHealthy(connection).pipe(
    Effect.repeat({ until: (healthy) => healthy, schedule: Schedule.spaced("50 millis") }),
    Effect.asVoid
  )

/** Another process took the port before the server could. */
class PortLost extends Schema.TaggedError<PortLost>()("PortLost", { port: Schema.Int }) {}

const startOn = Effect.fnUntraced(function* (
  port: number,
  mark: Mark,
  options: StartOptions
): Effect.fn.Return<RunningServer, OpenCodeUnavailable | PortLost, Scope.Scope> {
  const { program, startTimeoutMs, stateDirectory } = options
  const log = logFile(stateDirectory)
  const from = yield* prepareLog(log)
  // Closed after the server has stopped.
  yield* Effect.acquireRelease(prepareUnpacked(stateDirectory), () => Effect.ignore(removeUnpacked(stateDirectory)))
  const password = randomBytes(24).toString("base64url")
  const guarded = yield* Effect.acquireRelease(
    startGuarded({
      program,
      args: ["serve", "--hostname", "127.0.0.1", "--port", String(port), "--print-logs", "--log-level", "WARN"],
      environment: {
        ...openCodeEnvironment(options.environment, password, options.guarded),
        BUN_TMPDIR: unpackedFolder(stateDirectory),
        [instructionsVariable]: instructionsFolder(stateDirectory),
        ...variableOf(mark)
      },
      log,
      directory: options.folder
    }).pipe(Effect.mapError((cause) => new OpenCodeStateFault({ operation: "starting the guard", cause }))),
    ({ stop }) => stop
  )
  yield* Deferred.succeed(options.launched, undefined)
  const connection: Connection = {
    url: `http://127.0.0.1:${port}`,
    username: "opencode",
    password: Redacted.make(password),
    ownServer: ownServer(guarded.pid, process.getuid?.())
  }
  const failed = Effect.fnUntraced(function* (reason: string, exitCode?: number) {
    const lines = yield* onDisk("reading the log", () => lastLines(log, from))
    const code = exitCode === undefined ? {} : { exitCode }
    return yield* new OpenCodeDidNotStart({ reason, ...code, logFile: log, lastLines: lines })
  })
  const ended = Effect.gen(function* () {
    const code = yield* Deferred.await(guarded.exited)
    if (yield* isPortTaken(port)) return yield* new PortLost({ port })
    return yield* failed(endingText(code), code)
  })
  const ready = Effect.andThen(untilListening(log, from, connection.url), untilHealthy(connection))
  yield* Effect.raceFirst(ready, ended).pipe(
    Effect.timeoutOrElse({
      duration: `${startTimeoutMs} millis`,
      orElse: () => failed(`it did not answer within ${startTimeoutMs} ms`)
    })
  )
  return { ...guarded, connection }
})

/** Ports after the first one, before it is given up. */
const otherPorts = 4

/** OpenCode itself would always choose the same one. */
const choosePort = Effect.mapError(
  freePort,
  (cause) => new OpenCodeStateFault({ operation: "finding a free port", cause })
)

/**
 * Starts a server with a free port and a new password. It lives until the scope closes or this process ends. Processes
 * that an earlier server of this directory left behind are ended first.
 */
export const startServer = Effect.fn("OpenCode.start")(function* (
  options: StartOptions
): Effect.fn.Return<RunningServer, OpenCodeUnavailable, Scope.Scope> {
  const mark = yield* markOf(options.stateDirectory)
  yield* endLeftovers(mark)
  return yield* Effect.flatMap(choosePort, (port) => startOn(port, mark, options)).pipe(
    Effect.retry({ while: (error) => error._tag === "PortLost", times: otherPorts }),
    Effect.catchTag("PortLost", ({ port }) => {
      const reason = `other processes took every port that was chosen, the last one was ${port}`
      return new OpenCodeDidNotStart({ reason, logFile: logFile(options.stateDirectory), lastLines: [] })
    })
  )
})
