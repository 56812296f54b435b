import * as NodeServices from "@effect/platform-node/NodeServices"
import { locateServer, type ServerBinary, supports } from "@reprise/nats"
import { freeze } from "@reprise/process/testing"
import { Effect, Exit, FileSystem, Layer, Schedule, Schema, Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { Broker, type BrokerOptions, TestBrokerError } from "./Broker.ts"
import { openLink } from "./Link.ts"
import { awaitServer } from "./probeServer.ts"
import { serverSettings } from "./serverSettings.ts"

const Ports = Schema.fromJsonString(Schema.Struct({ nats: Schema.NonEmptyArray(Schema.URLFromString) }))
const decodePorts = Schema.decodeUnknownEffect(Ports)

const failure = (operation: string) => (cause: unknown) => new TestBrokerError({ operation, cause })

interface Running {
  readonly server: ChildProcessSpawner.ChildProcessHandle
  readonly port: number
  readonly version: string
  readonly scope: Scope.Closeable
}

/** A nats-server in a directory: one process at a time, started as often as a test likes. */
const makeServer = Effect.fnUntraced(function* (binary: ServerBinary, options: BrokerOptions) {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "reprise-broker-" })
  const config = `${directory}/server.conf`
  const logFile = `${directory}/server.log`
  const place = {
    host: "127.0.0.1",
    port: -1,
    storeDirectory: options.storeDirectory ?? `${directory}/data`,
    portsDirectory: directory,
    logFile
  }
  const settings = serverSettings(place, supports(binary.version, "syncAlways"), options.settings)
  yield* fs.writeFileString(config, settings)

  const portOf = (pid: number) =>
    fs.readFileString(`${directory}/nats-server_${pid}.ports`).pipe(
      Effect.flatMap(decodePorts),
      Effect.map((ports) => Number(ports.nats[0].port)),
      Effect.retry(Schedule.spaced("10 millis"))
    )
  /** A server that ends by itself has said why in its log. */
  const ended = (server: ChildProcessSpawner.ChildProcessHandle) =>
    server.exitCode.pipe(
      Effect.andThen(fs.readFileString(logFile).pipe(Effect.orElseSucceed(() => "without a log"))),
      Effect.flatMap((log) => Effect.fail(new Error(`it ended: ${log.slice(-1000)}`)))
    )

  return Effect.gen(function* () {
    const scope = yield* Scope.make()
    const command = ChildProcess.make(binary.path, ["-c", config], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      killSignal: "SIGKILL"
    })
    const server = yield* Scope.provide(spawner.spawn(command), scope)
    const port = yield* Effect.raceFirst(portOf(server.pid), ended(server))
    const version = yield* awaitServer("127.0.0.1", port)
    return { server, port, version, scope } satisfies Running
  }).pipe(Effect.mapError(failure("start")))
})

const make = Effect.fnUntraced(function* (options: BrokerOptions) {
  const binary = yield* locateServer().pipe(Effect.mapError(failure("find its nats-server")))
  const startServer = yield* makeServer(binary, options).pipe(Effect.mapError(failure("prepare its directory")))
  const link = yield* openLink
  let running = yield* startServer
  yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(running.scope, Exit.void)))
  yield* link.leadTo("127.0.0.1", running.port)

  const end = (signal: "SIGKILL" | "SIGTERM") =>
    Effect.suspend(() => running.server.kill({ killSignal: signal })).pipe(
      Effect.andThen(Effect.suspend(() => Scope.close(running.scope, Exit.void))),
      Effect.mapError(failure("end"))
    )
  const retire = Effect.try({
    try: () => process.kill(running.server.pid, "SIGUSR2"),
    catch: failure("be sent into lame-duck mode")
  }).pipe(
    Effect.andThen(Effect.suspend(() => Effect.ignore(running.server.exitCode))),
    Effect.andThen(Effect.suspend(() => Scope.close(running.scope, Exit.void)))
  )
  const resume = Effect.try({ try: () => process.kill(running.server.pid, "SIGCONT"), catch: failure("be resumed") })
  const start = Effect.gen(function* () {
    running = yield* startServer
    yield* link.leadTo("127.0.0.1", running.port)
  })

  return Broker.of({
    kind: "local",
    version: running.version,
    url: `nats://127.0.0.1:${link.port}`,
    pid: Effect.sync(() => running.server.pid),
    kill: end("SIGKILL"),
    start,
    restart: Effect.andThen(end("SIGTERM"), start),
    retire: Effect.andThen(retire, start),
    pause: Effect.suspend(() => freeze(running.server.pid)).pipe(Effect.mapError(failure("be paused"))),
    resume: Effect.asVoid(resume),
    cut: link.cut,
    heal: link.heal
  })
})

/** A broker from the nats-server program of this machine, with more of its own configuration. */
export const localBrokerWith = (options: BrokerOptions): Layer.Layer<Broker, TestBrokerError> =>
  Layer.effect(Broker, make(options)).pipe(Layer.provide(NodeServices.layer))

/** A broker from the nats-server program of this machine, in a temporary directory, on a free port. */
export const localBroker: Layer.Layer<Broker, TestBrokerError> = localBrokerWith({})
