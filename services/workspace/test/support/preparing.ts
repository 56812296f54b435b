/** Preparing and releasing the working trees of runs, without a broker. */
import { RunId, type WorkspaceCommand } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import type { Place } from "../../src/actor/work.ts"
import { release } from "../../src/work/doCommand.ts"
import { Leases } from "../../src/work/leases/Leases.ts"
import { prepare } from "../../src/work/prepare/prepare.ts"
import { host, inMemory } from "./brokers.ts"
import { prepareIn, runId } from "./commands.ts"
import { adapters, repository } from "./repository.ts"

export const r2 = RunId.make("r2")
export type Prepare = Extract<WorkspaceCommand, { readonly _tag: "PrepareWorkspace" }>

export const prepared = (workspace: string, more: Partial<Prepare> = {}, before?: Place) =>
  Effect.flatMap(prepare(prepareIn(workspace, more), host, before, crypto.randomUUID()), ({ event, place }) =>
    place === undefined ? Effect.die(new Error(JSON.stringify(event))) : Effect.succeed({ event, place })
  )
export const refused = (workspace: string, more: Partial<Prepare> = {}) =>
  Effect.map(prepare(prepareIn(workspace, more), host, undefined, crypto.randomUUID()), ({ event }) =>
    event._tag === "WorkspaceRefused" ? `${event.kind}: ${event.reason}` : event._tag
  )
export const done = (place: Place, outcome: "completed" | "failed" = "completed", run = runId) =>
  release({ _tag: "ReleaseWorkspace", runId: run, outcome }, place)

/** With a repository of its own at `sub`. */
export const withSubmodule = Effect.gen(function* () {
  const made = yield* repository
  const other = yield* repository
  yield* made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other.root, "sub")
  yield* made.commit("submodule")
  return made
})

export const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))
