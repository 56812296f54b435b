import type { WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { Leases } from "./Leases.ts"
import { removeMergedWorktree } from "./worktrees.ts"

type ReleaseWorkspace = Extract<WorkspaceCommand, { readonly _tag: "ReleaseWorkspace" }>

/** Gives the working tree back; the worktree of a completed run goes when nothing in it would be lost. */
export const release = Effect.fn("release")(function* (command: ReleaseWorkspace, place: Place | undefined) {
  const leases = yield* Leases
  if (place !== undefined) {
    if (command.outcome === "completed" && place.directory !== place.root) {
      yield* removeMergedWorktree(place.root, place.directory)
    }
    yield* leases.free({ leaseId: place.leaseId, runId: command.runId, directory: place.directory })
  }
  return { _tag: "WorkspaceReleased", runId: command.runId } satisfies WorkspaceFact
})
