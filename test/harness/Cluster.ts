/** Services as separate processes on one broker, with verbs that kill or freeze each of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { derivedSeed, EmbeddedServer, ensureStreams, layerEmbeddedConnection } from "@reprise/nats"
import { freeze } from "@reprise/process/testing"
import { Host, type ServiceName } from "@reprise/protocol"
import { Context, Effect, Layer, Redacted, Schedule, Schema, Scope } from "effect"
import type { Command } from "./Command.ts"
import { makeWorld, type World, type WorldOptions } from "./World.ts"

const Process = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))
const readProcess = Schema.decodeUnknownSync(Process)

export interface ClusterShape {
  readonly world: World
  /** Starts a service; completes when it is ready. */
  readonly serve: (service: ServiceName) => Effect.Effect<void, Error>
  /** The process id of a running service. */
  readonly pidOf: (service: ServiceName) => number | undefined
  /** The URL of the broker, for `--nats`, with what `endpoint.json` gives to a person. */
  readonly address: string
  /** Sends SIGKILL to the process of a service, and to no other. */
  readonly kill: (service: ServiceName) => Effect.Effect<void>
  /** Sends SIGKILL to the OpenCode server, but not to its guard or its tools. */
  readonly killOpenCode: Effect.Effect<void>
  /** Freezes OpenCode: it keeps its connections and answers nothing. */
  readonly freezeOpenCode: Effect.Effect<void>
  readonly thawOpenCode: Effect.Effect<void>
  /** Sends SIGKILL to the broker, which its owner starts again; completes when it runs again. */
  readonly killBroker: Effect.Effect<void>
  readonly freezeBroker: Effect.Effect<void>
  readonly thawBroker: Effect.Effect<void>
}

export class Cluster extends Context.Service<Cluster, ClusterShape>()("test/Cluster") {}

const make = Effect.fnUntraced(function* (options: WorldOptions) {
  const world = yield* makeWorld(options)
  const scope = yield* Effect.scope
  const broker = yield* EmbeddedServer
  const { access, password, url, user } = broker.endpoint
  const address = url.replace("://", `://${user}:${Redacted.value(password)}@`)
  const keys = yield* temporaryFolder
  /** Where a service finds its key. */
  const seedFile = (service: ServiceName): string => {
    const path = join(keys, `${service}.nk`)
    writeFileSync(path, Redacted.value(derivedSeed(broker.secret, access?.salt ?? "", service)), { mode: 0o600 })
    return path
  }
  const state = join(world.root, ".reprise")
  const running = new Map<ServiceName, Command>()

  const openCodePid = Effect.sync(() => readProcess(readFileSync(join(state, "opencode.json"), "utf8")).pid)
  const signal = (name: NodeJS.Signals) => (pid: number) =>
    // The process may have ended meanwhile.
    Effect.ignore(Effect.try(() => process.kill(pid, name)))
  const signalOpenCode = (name: NodeJS.Signals) => Effect.flatMap(openCodePid, signal(name))
  const signalBroker = (name: NodeJS.Signals) => Effect.flatMap(broker.pid, signal(name))

  return Cluster.of({
    world,
    serve: Effect.fnUntraced(function* (service) {
      const environment = { REPRISE_NATS_URL: url, REPRISE_NATS_NKEY_SEED_FILE: seedFile(service) }
      const command = yield* Scope.provide(world.startIn({ environment }, "serve", service), scope)
      running.set(service, command)
      yield* command.waitFor(/is ready/)
    }),
    address,
    pidOf: (service) => running.get(service)?.pid,
    kill: (service) =>
      Effect.suspend(() => {
        const command = running.get(service)
        running.delete(service)
        return command === undefined ? Effect.void : Effect.asVoid(command.kill("SIGKILL"))
      }),
    killOpenCode: signalOpenCode("SIGKILL"),
    freezeOpenCode: Effect.flatMap(openCodePid, freeze).pipe(Effect.ignore),
    thawOpenCode: signalOpenCode("SIGCONT"),
    killBroker: Effect.gen(function* () {
      const restarts = yield* broker.restarts
      yield* signalBroker("SIGKILL")
      yield* Effect.repeat(broker.restarts, { until: (now) => now > restarts, schedule: Schedule.spaced("20 millis") })
    }),
    freezeBroker: Effect.flatMap(broker.pid, freeze).pipe(Effect.ignore),
    thawBroker: signalBroker("SIGCONT")
  })
})

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-cluster-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)

/** A broker that the test process owns, as `reprise run` does. */
const broker = Layer.unwrap(Effect.map(temporaryFolder, (directory) => EmbeddedServer.layer({ directory })))

const streams = Layer.effectDiscard(
  Effect.gen(function* () {
    const { storageBytes } = yield* EmbeddedServer
    yield* ensureStreams("reprise", { storageBytes })
  })
)

/** The cluster before any service is started, and a messenger for the test. */
export const clusterLayer = (options: WorldOptions) =>
  Layer.merge(
    Layer.effect(Cluster, make(options)),
    Messenger.layer.pipe(
      Layer.provide(JetStreamBroker.layer),
      Layer.provide(streams),
      Layer.provide(layerEmbeddedConnection({ name: "test" })),
      Layer.provideMerge(ActorConfig.layer({ host: Host.make("local") }))
    )
  ).pipe(Layer.provide(broker))
