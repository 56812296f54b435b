/** Services as processes of their own around one guarded broker, and the verbs that break each of them by itself. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { EmbeddedServer, ensureStreams, layerEmbeddedConnection } from "@reprise/nats"
import { Host, type ServiceName } from "@reprise/protocol"
import { Context, Effect, Layer, Redacted, Schedule, Schema, Scope } from "effect"
import type { Command } from "./Command.ts"
import { makeWorld, type World, type WorldOptions } from "./World.ts"

const Process = Schema.fromJsonString(Schema.Struct({ pid: Schema.Int }))
const readProcess = Schema.decodeUnknownSync(Process)

export interface ClusterShape {
  readonly world: World
  /** Starts a service that does not run; completes when it is ready. */
  readonly serve: (service: ServiceName) => Effect.Effect<void, Error>
  /** Of the process that runs it now. */
  readonly pidOf: (service: ServiceName) => number | undefined
  /** Where a client finds the broker: the value of `--nats`. */
  readonly address: string
  /** kill -9 of its process alone. */
  readonly kill: (service: ServiceName) => Effect.Effect<void>
  /** kill -9 of OpenCode's server alone: not of its guard, not of its tools. */
  readonly killOpenCode: Effect.Effect<void>
  /** OpenCode keeps its connections and answers nothing. */
  readonly freezeOpenCode: Effect.Effect<void>
  readonly thawOpenCode: Effect.Effect<void>
  /** kill -9 of the broker, whose owner starts it again; completes when it is there again. */
  readonly killBroker: Effect.Effect<void>
  readonly freezeBroker: Effect.Effect<void>
  readonly thawBroker: Effect.Effect<void>
}

export class Cluster extends Context.Service<Cluster, ClusterShape>()("test/Cluster") {}

const make = Effect.fnUntraced(function* (options: WorldOptions) {
  const world = yield* makeWorld(options)
  const scope = yield* Effect.scope
  const broker = yield* EmbeddedServer
  const { password, url, user } = broker.endpoint
  const address = url.replace("://", `://${user}:${Redacted.value(password)}@`)
  const state = join(world.root, ".reprise")
  const running = new Map<ServiceName, Command>()

  const openCodePid = Effect.sync(() => readProcess(readFileSync(join(state, "opencode.json"), "utf8")).pid)
  const signal = (name: NodeJS.Signals) => (pid: number) =>
    // What has ended in the meantime needs none.
    Effect.ignore(Effect.try(() => process.kill(pid, name)))
  const signalOpenCode = (name: NodeJS.Signals) => Effect.flatMap(openCodePid, signal(name))
  const signalBroker = (name: NodeJS.Signals) => Effect.flatMap(broker.pid, signal(name))

  return Cluster.of({
    world,
    serve: Effect.fnUntraced(function* (service) {
      const command = yield* Scope.provide(world.start("serve", service, "--nats", address), scope)
      running.set(service, command)
      yield* command.waitFor(/is ready/)
    }),
    pidOf: (service) => running.get(service)?.pid,
    address,
    kill: (service) =>
      Effect.suspend(() => {
        const command = running.get(service)
        running.delete(service)
        return command === undefined ? Effect.void : Effect.asVoid(command.kill("SIGKILL"))
      }),
    killOpenCode: signalOpenCode("SIGKILL"),
    freezeOpenCode: signalOpenCode("SIGSTOP"),
    thawOpenCode: signalOpenCode("SIGCONT"),
    killBroker: Effect.gen(function* () {
      const restarts = yield* broker.restarts
      yield* signalBroker("SIGKILL")
      yield* Effect.repeat(broker.restarts, { until: (now) => now > restarts, schedule: Schedule.spaced("20 millis") })
    }),
    freezeBroker: signalBroker("SIGSTOP"),
    thawBroker: signalBroker("SIGCONT")
  })
})

const store = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-cluster-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)

/** A broker that this process runs and guards, as `reprise run` does. */
const broker = Layer.unwrap(Effect.map(store, (directory) => EmbeddedServer.layer({ directory })))

const streams = Layer.effectDiscard(
  Effect.gen(function* () {
    const { storageBytes } = yield* EmbeddedServer
    yield* ensureStreams("reprise", { storageBytes })
  })
)

/** The cluster without any service, and the test's own way to talk to them. */
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
