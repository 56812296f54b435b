import { ActorConfig } from "@reprise/actor"
import type { WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { Impossible } from "./faults.ts"
import { finishPhase } from "./finishPhase.ts"
import { Leases } from "./Leases.ts"
import { prepare } from "./prepare.ts"
import { qualityGates } from "./qualityGates.ts"
import { release } from "./release.ts"
import { verifyCommit } from "./verifyCommit.ts"
import { verifyContinuation } from "./verifyContinuation.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"
import { writeContinuationState } from "./writeContinuationState.ts"

/** What came of a command: the fact to publish, and where the workspace is if that is news. */
export interface Outcome {
  readonly event: WorkspaceFact
  readonly place?: Place
}

type Of<Tag extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Tag }>

const writeSummary = Effect.fn("writeSummary")(function* (command: Of<"WriteSummary">, place: Place) {
  const files = yield* WorkspaceFiles
  const { path, phase, runId, text } = command
  yield* files.replace(place.directory, path, text)
  return { _tag: "SummaryWritten", runId, ...(phase === undefined ? {} : { phase }), path } satisfies WorkspaceFact
})

/** Everything but preparing and releasing, in a tree that no other run may have taken meanwhile. */
const inPlace = Effect.fnUntraced(function* (
  command: Exclude<WorkspaceCommand, Of<"PrepareWorkspace" | "ReleaseWorkspace">>,
  place: Place
) {
  const leases = yield* Leases
  yield* leases.check({ leaseId: place.leaseId, runId: command.runId, directory: place.directory })
  switch (command._tag) {
    case "RunQualityGates":
      return yield* qualityGates(command, place)
    case "VerifyCommit":
      return yield* verifyCommit(command, place)
    case "FinishPhase":
      return yield* finishPhase(command, place)
    case "VerifyContinuation":
      return yield* verifyContinuation(command, place)
    case "WriteContinuationState":
      return yield* writeContinuationState(command, place)
    case "WriteSummary":
      return yield* writeSummary(command, place)
  }
})

/** Does a command, in a way that may be repeated. `place`: where the run was prepared, if it was. */
export const doCommand = Effect.fnUntraced(function* (command: WorkspaceCommand, place: Place | undefined) {
  switch (command._tag) {
    case "PrepareWorkspace": {
      const { host } = yield* ActorConfig
      return (yield* prepare(command, host, place)) satisfies Outcome
    }
    case "ReleaseWorkspace":
      return { event: yield* release(command, place) } satisfies Outcome
    default:
      if (place === undefined) return yield* new Impossible({ reason: "The workspace is not prepared." })
      return { event: yield* inPlace(command, place) } satisfies Outcome
  }
})
