/** The five services, as the product composes them: only their broker, their host and their agents are simulated. */
import { ActorConfig, actorLayer, Broker, type BrokerShape, Messenger } from "@reprise/actor"
import type { AgentRuntimes } from "@reprise/agent"
import { escalationActor } from "@reprise/gate"
import { runActor, watchWith } from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import { reviewActor } from "@reprise/reviewer"
import { defaultServiceSettings, sessionActor, workersWith } from "@reprise/session-manager"
import { workersOnHost, workspaceActor } from "@reprise/workspace"
import { Effect, Layer, Logger, References } from "effect"
import type { Process } from "../machine/Machine.ts"
import type { hostLayer } from "./host.ts"

const minute = 60_000

/** More patient than any test, less than the defaults: a story is to end within virtual hours. */
const sessionSettings = {
  ...defaultServiceSettings,
  maxWaitMs: 5 * minute,
  firstWaitMs: 10_000,
  longestWaitMs: minute
}

/** The actors of the services. A planted bug replaces one of them. */
export const actors = {
  orchestrator: runActor,
  gate: escalationActor,
  sessionManager: sessionActor(sessionSettings),
  reviewer: reviewActor,
  workspace: workspaceActor
}
export type Actors = typeof actors

export interface Surroundings {
  readonly actors: Actors
  readonly runtimes: Layer.Layer<AgentRuntimes>
  readonly host: ReturnType<typeof hostLayer>
}

const layerOf = (service: ServiceName, { actors, host, runtimes }: Surroundings) => {
  switch (service) {
    case "orchestrator":
      return Layer.merge(actorLayer(actors.orchestrator), watchWith())
    case "gate":
      return actorLayer(actors.gate)
    case "reviewer":
      return actorLayer(actors.reviewer)
    case "session-manager":
      return Layer.merge(actorLayer(actors.sessionManager), workersWith(sessionSettings)).pipe(Layer.provide(runtimes))
    case "workspace":
      return Layer.merge(actorLayer(actors.workspace), workersOnHost).pipe(Layer.provide(host))
  }
}

export const prefix = "sim"

/** Settings of the actor runtime. Acknowledgements take longer than in the product, so that time passes in larger steps. */
export const actorConfig = (snapshotEvery: number) =>
  ActorConfig.layer({ prefix, snapshotEvery, ackWaitMs: 30_000, heartbeatMs: 10_000 })

const quiet = Layer.merge(Logger.layer([]), Layer.succeed(References.MinimumLogLevel, "None"))

/** Runs a service in a process until that is killed. */
export const startService = (
  process: Process,
  service: ServiceName,
  broker: BrokerShape,
  snapshotEvery: number,
  surroundings: Surroundings
) => {
  const running = Layer.fresh(layerOf(service, surroundings)).pipe(
    Layer.provide(Messenger.layer),
    Layer.provide(Layer.succeed(Broker, broker)),
    Layer.provide(actorConfig(snapshotEvery)),
    Layer.provide(quiet)
  )
  // A service that cannot start is started again, as a supervisor would.
  return process.fork(
    Effect.scoped(Effect.andThen(Layer.build(running), Effect.never)).pipe(
      Effect.delay(1),
      Effect.retry({ times: 1000 })
    )
  )
}
