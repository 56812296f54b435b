import * as NodeServices from "@effect/platform-node/NodeServices"
import { actorLayer } from "@reprise/actor"
import { Layer } from "effect"
import { workspaceActor } from "./domain/workspaceActor.ts"
import { Git } from "./Git.ts"
import { Leases } from "./Leases.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"
import { workspaceWorker } from "./worker.ts"

/** Decide, and answer queries: touch no files. Any number of replicas, anywhere. */
export const actors = actorLayer(workspaceActor)

/** Do what runs ask for in the working trees on this host's disk. */
export const workers = workspaceWorker.pipe(
  Layer.provide(Layer.mergeAll(Git.layer, WorkspaceFiles.layer, Leases.layer)),
  Layer.provide(NodeServices.layer)
)

/** The whole service of one host. */
export const layer = Layer.merge(actors, workers)
