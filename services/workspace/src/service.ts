/** The workspace service: actors that decide anywhere, and workers that touch the files of one host. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { actorLayer } from "@reprise/actor"
import { Effect, Layer } from "effect"
import { workspaceActor } from "./actor/actor.ts"
import { HostFault } from "./work/faults.ts"
import { WorkspaceFiles } from "./work/files/WorkspaceFiles.ts"
import { Git } from "./work/git/Git.ts"
import { GitDirectory } from "./work/git/GitDirectory.ts"
import { Leases } from "./work/leases/Leases.ts"
import { lookServer } from "./work/look/serveLook.ts"
import { Remotes } from "./work/remote/Remotes.ts"
import { runLimit } from "./work/slots/runLimit.ts"
import { workspaceWorker } from "./work/worker.ts"

/** Decide and answer queries, without touching files. Run with any number of replicas, on any host. */
export const actors = actorLayer(workspaceActor)

const workersWith = (limit: number | undefined) =>
  Layer.merge(workspaceWorker(limit).pipe(Layer.provide(Leases.layer)), lookServer)

/** The workers on a host that others provide: its git, its files and its programs. It takes any number of runs. */
export const workersOnHost = workersWith(undefined)

const workersInSlots = Layer.unwrap(
  Effect.suspend(() => Effect.fromResult(runLimit(process.env))).pipe(
    Effect.mapError((cause) => new HostFault({ operation: "reading how many runs this host takes", cause })),
    Effect.map(workersWith)
  )
)

/** Work in the working trees on this host's disk. */
export const workers = workersInSlots.pipe(
  Layer.provide(Layer.mergeAll(Git.layer, GitDirectory.layer, WorkspaceFiles.layer, Remotes.layer)),
  Layer.provide(NodeServices.layer)
)

/** The whole service of one host. */
export const layer = Layer.merge(actors, workers)
