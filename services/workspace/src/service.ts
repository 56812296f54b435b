import { NodeServices } from "@effect/platform-node"
import { actorLayer } from "@reprise/actor"
import { Layer } from "effect"
import { workspaceActor } from "./domain/workspaceActor.ts"
import { Git } from "./Git.ts"
import { Leases } from "./Leases.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"
import { workspaceWorker } from "./worker.ts"

/** Keep what runs asked for, and what came of it; touch no files. */
export const actors = actorLayer(workspaceActor)

/** Do what runs ask for in the working trees on this host's disk. */
export const workers = workspaceWorker.pipe(
  Layer.provide(Layer.mergeAll(Git.layer, WorkspaceFiles.layer, Leases.layer)),
  Layer.provide(NodeServices.layer)
)

/** The workspace service of one host. */
export const layer = Layer.merge(actors, workers)
