/** Starts the server once and waits until it listens. */
import { readdir, readFile, realpath, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import {
  endLeftovers,
  type GuardedProcess,
  type GuardFailed,
  isPortTaken,
  lastLines,
  logSize,
  type Mark,
  replaceFile,
  startGuarded,
  variableOf
} from "@reprise/process"
import { Deferred, Effect, Option, Schedule, Schema, type Scope } from "effect"
import type { ServerBinary } from "../locate/ServerBinary.ts"
import { PortTaken, ServerDidNotStart } from "./EmbeddedError.ts"
import { type DirectoryError, onDisk, paths, requireRoom } from "./StateDirectory.ts"

export interface StartOptions {
  readonly directory: string
  readonly server: ServerBinary
  /** The configuration's text. */
  readonly config: string
  /** The configured port, -1 for a free one. */
  readonly port: number
  readonly startTimeoutMs: number
}

export interface RunningServer extends GuardedProcess {
  readonly port: number
  readonly monitorUrl: Option.Option<string>
}

export type StartError = DirectoryError | PortTaken | ServerDidNotStart | GuardFailed

const Ports = Schema.fromJsonString(
  Schema.Struct({
    nats: Schema.NonEmptyArray(Schema.String),
    monitoring: Schema.optionalKey(Schema.Array(Schema.String))
  })
)
const decodePorts = Schema.decodeUnknownOption(Ports)

const portsFile = (directory: string, pid: number) => join(paths(directory).nats, `nats-server_${pid}.ports`)

/** A killed server leaves its file behind, and a later server can get its process id. */
const removePortsFiles = (directory: string) =>
  onDisk(directory, async () => {
    const { nats } = paths(directory)
    for (const name of await readdir(nats)) {
      if (name.endsWith(".ports")) await rm(join(nats, name), { force: true })
    }
  })

/** None until the server has written all of the file; it does so when it listens. */
const readPorts = (file: string) =>
  Effect.promise(() => readFile(file, "utf8").catch(() => "")).pipe(
    Effect.map((text) =>
      Option.map(decodePorts(text), (ports) => ({
        port: Number(new URL(ports.nats[0]).port),
        monitorUrl: Option.fromNullishOr(ports.monitoring?.[0])
      }))
    )
  )

/**
 * The server's runtime lets garbage grow to as much as what is in use, by default: with ten thousand parked runs, 200 MB.
 * Here to half of it.
 */
const garbagePercent = "50"

const keptOldLogs = 2

/** Servers before 2.10 rotate their log but never remove old files. The names end in a time, so they sort by age. */
const removeOldLogs = async (log: string): Promise<void> => {
  const names = await readdir(dirname(log))
  const old = names.filter((name) => name.startsWith(`${basename(log)}.`)).sort()
  for (const name of old.slice(0, Math.max(0, old.length - keptOldLogs))) {
    await rm(join(dirname(log), name), { force: true })
  }
}

/** Names the causes that can be proved; any other is reported with the log. */
const diagnose = Effect.fnUntraced(function* (options: StartOptions, offset: number, exitCode?: number) {
  const { directory, port } = options
  if (port > 0 && (yield* isPortTaken(port))) return yield* new PortTaken({ port })
  yield* requireRoom(directory)
  const logFile = paths(directory).log
  const lines = yield* onDisk(directory, () => lastLines(logFile, offset))
  return yield* exitCode === undefined
    ? new ServerDidNotStart({
        reason: `it did not listen within ${options.startTimeoutMs} ms`,
        logFile,
        lastLines: lines
      })
    : new ServerDidNotStart({ reason: `it ended with ${exitCode}`, exitCode, logFile, lastLines: lines })
})

/** The mark of the server's processes: the same for every start in a directory. */
const markOf = (directory: string) =>
  Effect.map(
    onDisk(directory, () => realpath(directory)),
    (path): Mark => `REPRISE_NATS_STATE=${path}`
  )

/**
 * Starts a server that lives until the scope closes or this process ends. Returns when it listens, which is after
 * JetStream has recovered its streams. Processes that an earlier server of this directory left behind are ended first:
 * two servers would ruin the store.
 */
export const startServer = Effect.fnUntraced(function* (
  options: StartOptions
): Effect.fn.Return<RunningServer, StartError, Scope.Scope> {
  const { directory } = options
  const { config, log, nats } = paths(directory)
  const mark = yield* markOf(directory)
  yield* endLeftovers(mark)
  yield* removePortsFiles(directory)
  // A server that cannot write its ports file would be waited for in vain.
  yield* requireRoom(directory)
  yield* onDisk(directory, () => removeOldLogs(log))
  yield* onDisk(directory, () => replaceFile(config, options.config))
  const offset = yield* Effect.promise(() => logSize(log))

  const guarded = yield* Effect.acquireRelease(
    startGuarded({
      program: options.server.path,
      args: ["-c", config],
      environment: {
        PATH: process.env["PATH"] ?? "/usr/bin:/bin",
        LC_ALL: "C",
        GOGC: process.env["GOGC"] ?? garbagePercent,
        ...variableOf(mark)
      },
      log,
      directory: nats
    }),
    ({ stop }) => stop
  )
  const listening = readPorts(portsFile(directory, guarded.pid)).pipe(
    Effect.repeat({ until: Option.isSome, schedule: Schedule.spaced("4 millis") }),
    Effect.flatMap((ports) => Effect.fromOption(ports).pipe(Effect.orDie)),
    Effect.map((ports): RunningServer => ({ ...guarded, ...ports }))
  )
  const ended = Deferred.await(guarded.exited).pipe(Effect.flatMap((code) => diagnose(options, offset, code)))
  return yield* Effect.raceFirst(listening, ended).pipe(
    Effect.timeoutOrElse({
      duration: `${options.startTimeoutMs} millis`,
      orElse: () => diagnose(options, offset)
    })
  )
})
