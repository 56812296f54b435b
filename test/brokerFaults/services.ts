/** The five services, two replicas of each, on a real broker; their host and their agents are those of the simulation. */
import { ActorConfig, type Broker, JetStreamBroker, Messenger } from "@reprise/actor"
import { AgentRuntime, AgentRuntimes, MemoryControl } from "@reprise/agent"
import { Nats } from "@reprise/nats"
import { Effect, Layer, Logger, Schedule, type Scope } from "effect"
import { type Agents, makeAgents } from "../simulation/parts/agents.ts"
import { hostLayer } from "../simulation/parts/host.ts"
import { Repository } from "../simulation/parts/Repository.ts"
import { noting } from "../simulation/parts/runtime.ts"
import { actors, layerOf, prefix, type Surroundings } from "../simulation/parts/services.ts"
import { services } from "../simulation/world/faults.ts"
import { planPath } from "../simulation/world/World.ts"
import type { Plan } from "./plan.ts"

/** What takes seconds in a simulated story takes milliseconds here. */
const agentsHurry = 300
/**
 * Short, so that a lost acknowledgement or a lost answer does not take the whole story; but longer than a busy machine
 * keeps these services, which share one process, from a heartbeat.
 */
const settings = { prefix, ackWaitMs: 5_000, heartbeatMs: 400 }
const connection = { requestTimeoutMs: 3_000, reconnectWaitMs: 50 }

/** The point at which an agent waits names for how long. */
class Hurry extends MemoryControl {
  override hold(name: string): Effect.Effect<void> {
    const ms = Number(name)
    return Number.isNaN(ms) ? Effect.never : Effect.sleep(ms / agentsHurry)
  }
}

/** The agents, their runtime and the repositories: everything beside the broker. */
export const makeSurroundings = Effect.fnUntraced(function* ({ authors, failedGates, reviewers, world }: Plan) {
  const repositories = new Map(
    world.runs.map(({ directory, plan }, n) => [
      directory,
      new Repository(directory, n + 1, new Map([[planPath, plan]]))
    ])
  )
  const agents: Agents = makeAgents({
    seed: world.seed,
    runOf: (id) => {
      const run = world.runs.find(({ directory }) => directory === runtime.directories.get(id)) ?? world.runs[0]
      const repository = run === undefined ? undefined : repositories.get(run.directory)
      if (run === undefined || repository === undefined) throw new Error(`No run has session ${id}.`)
      return { run, repository }
    },
    authorDoes: (prompt) => authors.get(prompt),
    reviewerDoes: (prompt) => reviewers.get(prompt),
    nowMs: Date.now
  })
  const own = yield* Effect.map(
    Layer.build(AgentRuntime.layerMemory({ script: (turn) => agents.script(turn), control: new Hurry() })),
    (context) => AgentRuntime.pipe(Effect.provide(context), Effect.runSync)
  )
  const runtime = { own, ...noting(own) }
  let gateRuns = 0
  const host = hostLayer({
    repositories,
    gitFails: () => false,
    runCommand: () => {
      gateRuns += 1
      return { exitCode: failedGates.has(gateRuns - 1) ? 1 : 0, ms: 5 }
    }
  })
  const runtimes = Layer.succeed(AgentRuntimes, AgentRuntimes.make([runtime.noted]))
  return { agents, repositories, runtime, surroundings: { actors, host, runtimes } satisfies Surroundings }
})

/** A connection to the broker, with a messenger. */
export const connected = (
  url: string,
  name: string,
  requestTimeoutMs = connection.requestTimeoutMs
): Layer.Layer<Messenger | Broker | Nats, unknown> =>
  Layer.fresh(
    Messenger.layer.pipe(
      Layer.provideMerge(JetStreamBroker.layer),
      Layer.provideMerge(Nats.layer({ url, name, ...connection, requestTimeoutMs })),
      Layer.provide(ActorConfig.layer(settings)),
      Layer.provide(Logger.layer([]))
    )
  )

/** Starts every replica; one that cannot start is started again. The first of each service does the work of the host. */
export const startServices = (
  url: string,
  { world: { replicas, snapshotEvery } }: Plan,
  surroundings: Surroundings
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.forEach(
    services.flatMap((service) => Array.from({ length: replicas }, (_, n) => ({ service, n }))),
    ({ n, service }) =>
      Layer.build(
        layerOf(service, n === 0, surroundings).pipe(
          Layer.provide(connected(url, `${service}-${n}`)),
          Layer.provide(ActorConfig.layer({ ...settings, snapshotEvery })),
          Layer.provide(Logger.layer([])),
          Layer.fresh
        )
      ).pipe(Effect.retry(Schedule.spaced("100 millis")), Effect.orDie),
    { concurrency: "unbounded", discard: true }
  )
