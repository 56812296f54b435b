/** The five services, as the product composes them: only their broker, their host and their agents are simulated. */
import { ActorConfig, actorLayer, Broker, type BrokerShape, Messenger } from "@reprise/actor"
import type { AgentRuntimes } from "@reprise/agent"
import { escalationActor } from "@reprise/gate"
import { runActor, watchWith } from "@reprise/orchestrator"
import type { ServiceName } from "@reprise/protocol"
import { reviewActor } from "@reprise/reviewer"
import { defaultServiceSettings, sessionActor, workersWith } from "@reprise/session-manager"
import { workersOnHost, workspaceActor } from "@reprise/workspace"
import { Duration, Effect, Layer } from "effect"
import type { Process } from "../machine/Machine.ts"
import type { hostLayer } from "./host.ts"

/** More patient than any test, less than the defaults: a story is to end within virtual hours. */
const sessionSettings = {
  ...defaultServiceSettings,
  maxWait: Duration.minutes(5),
  firstWait: Duration.seconds(10),
  longestWait: Duration.minutes(1)
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

/** Any number of processes may run the actors of a service; one process does the work of a host. */
export const layerOf = (service: ServiceName, works: boolean, { actors, host, runtimes }: Surroundings) => {
  switch (service) {
    case "orchestrator":
      return Layer.merge(actorLayer(actors.orchestrator), watchWith())
    case "gate":
      return actorLayer(actors.gate)
    case "reviewer":
      return actorLayer(actors.reviewer)
    case "session-manager": {
      const manager = actorLayer(actors.sessionManager)
      return works ? Layer.merge(manager, workersWith(sessionSettings)).pipe(Layer.provide([runtimes, host])) : manager
    }
    case "workspace": {
      const workspace = actorLayer(actors.workspace)
      return works ? Layer.merge(workspace, workersOnHost).pipe(Layer.provide(host)) : workspace
    }
  }
}

export const prefix = "sim"

/** Settings of the actor runtime. Acknowledgements take longer than in the product, so that time passes in larger steps. */
export const actorConfig = (snapshotEvery: number) =>
  ActorConfig.layer({ prefix, snapshotEvery, ackWaitMs: 30_000, heartbeatMs: 10_000 })

export interface Start {
  readonly process: Process
  readonly service: ServiceName
  readonly works: boolean
  readonly broker: BrokerShape
  readonly snapshotEvery: number
  readonly surroundings: Surroundings
  readonly onEnded: () => void
}

/** Runs a service in a process until that is killed. A process whose service cannot start ends. */
export const startService = ({ broker, onEnded, process, service, snapshotEvery, surroundings, works }: Start) => {
  const running = Layer.fresh(layerOf(service, works, surroundings)).pipe(
    Layer.provide(Messenger.layer),
    Layer.provide(Layer.succeed(Broker, broker)),
    Layer.provide(actorConfig(snapshotEvery))
  )
  process.fork(Effect.scoped(Effect.andThen(Layer.build(running), Effect.never))).addObserver(onEnded)
}
