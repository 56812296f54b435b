/** Does one command of a run on this host. Every command may be repeated, because a crash may hide its report. */
import { ActorConfig } from "@reprise/actor"
import { Sandbox } from "@reprise/sandbox"
import { Effect } from "effect"
import type { InPlaceCommand, InputOf, WorkspaceFact } from "../actor/inputs.ts"
import type { Place, Request } from "../actor/work.ts"
import { type GitFault, Impossible } from "./faults.ts"
import { WorkspaceFiles } from "./files/WorkspaceFiles.ts"
import { settleLocks } from "./git/leftLocks.ts"
import { removeMergedWorktree } from "./git/worktrees.ts"
import { Leases } from "./leases/Leases.ts"
import { finishPhase } from "./phase/finishPhase.ts"
import { writeContinuationState } from "./phase/writeContinuationState.ts"
import { recordLeft } from "./prepare/approvedCommit.ts"
import { prepare } from "./prepare/prepare.ts"
import { qualityGates } from "./qualityGates/qualityGates.ts"
import { Remotes } from "./remote/Remotes.ts"
import { verifyClaims } from "./verify/verifyClaims.ts"
import { verifyCommit } from "./verify/verifyCommit.ts"
import { verifyContinuation } from "./verify/verifyContinuation.ts"

/** The event to publish, and where the workspace is if that is new. */
export interface Outcome {
  readonly event: WorkspaceFact
  readonly place?: Place
}

const writeSummary = Effect.fn("writeSummary")(function* (command: InputOf<"WriteSummary">, place: Place) {
  const files = yield* WorkspaceFiles
  const { path, phase, runId, text } = command
  yield* files.replace(place.directory, path, text)
  return { _tag: "SummaryWritten", runId, ...(phase === undefined ? {} : { phase }), path } satisfies WorkspaceFact
})

/** Where git only reads, a lock is in nobody's way. */
const noteLocks = (directory: string) => Effect.ignore(settleLocks(directory, "look"), { log: "Warn" })

/** What the remote has of the run's branch, for a run with a remote. */
const pushedCommit = Effect.fnUntraced(function* ({ branch, remote, root }: Place) {
  if (remote === undefined || branch === undefined) return undefined
  return yield* (yield* Remotes).branchTip(root, branch)
})

/** One that git cannot look at stays, for its owner to look at: nothing else may wait for that. */
const removeUnneeded = Effect.fnUntraced(function* (place: Place) {
  const keep = ({ message }: { readonly message: string }) =>
    Effect.logWarning(`The worktree ${place.directory} stays: ${message}`)
  yield* removeMergedWorktree(place.root, place.directory, yield* pushedCommit(place)).pipe(
    Effect.catchTags({ NotAFile: keep, UnreadableTree: keep }),
    Effect.catchIf((fault): fault is GitFault => fault._tag === "GitFault" && !fault.transient, keep)
  )
})

/** Frees the working tree. The worktree of a completed run is removed when nothing in it would be lost. */
export const release = Effect.fn("release")(function* (command: InputOf<"ReleaseWorkspace">, place: Place | undefined) {
  const leases = yield* Leases
  if (place !== undefined) {
    yield* Effect.ignore(
      Sandbox.use((sandbox) => sandbox.forget(place.directory)),
      { log: "Warn" }
    )
    // What a killed git left must not wait for the user's next commit.
    yield* noteLocks(place.root)
    if (place.directory === place.root && place.branch !== undefined) {
      const isComplete = command.outcome === "completed"
      yield* Effect.ignore(recordLeft(place.root, place.branch, isComplete), { log: "Warn" })
    }
    if (command.outcome === "completed" && place.directory !== place.root) {
      yield* removeUnneeded(place)
    }
    yield* leases.free({ leaseId: place.leaseId, runId: command.runId, directory: place.directory })
  }
  return { _tag: "WorkspaceReleased", runId: command.runId } satisfies WorkspaceFact
})

/** What an author committed is in the repository, also where the process that worked there was killed. Gives why not. */
const takeIn = (directory: string) =>
  Sandbox.use((sandbox) => sandbox.takeIn(directory)).pipe(
    Effect.catchTag("SandboxFault", ({ message }) => Effect.as(Effect.logWarning(message), message))
  )

const notTaken = ({ commit, phase, runId }: InputOf<"VerifyCommit">, detail: string) =>
  ({ _tag: "CommitRejected", runId, phase, commit, reason: "unreachable", detail }) satisfies WorkspaceFact

/** Works in a tree after checking that no other run has taken it. */
const workInPlace = Effect.fnUntraced(function* (command: InPlaceCommand, place: Place | undefined) {
  if (place === undefined) return yield* new Impossible({ reason: "The workspace is not prepared." })
  const leases = yield* Leases
  yield* leases.check({ leaseId: place.leaseId, runId: command.runId, directory: place.directory })
  if (command._tag === "FinishPhase") yield* settleLocks(place.directory, "write")
  else yield* noteLocks(place.directory)
  const left = yield* takeIn(place.directory)
  if (left !== undefined && command._tag === "VerifyCommit") return notTaken(command, left)
  switch (command._tag) {
    case "RunQualityGates":
      return yield* qualityGates(command, place)
    case "VerifyCommit":
      return yield* verifyCommit(command, place)
    case "VerifyClaims":
      return yield* verifyClaims(command, place)
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

/** `place`: where the run was prepared, if it was. */
export const doCommand = Effect.fnUntraced(function* ({ command, requestId }: Request, place: Place | undefined) {
  switch (command._tag) {
    case "PrepareWorkspace": {
      const { host } = yield* ActorConfig
      return (yield* prepare(command, host, place, requestId)) satisfies Outcome
    }
    case "ReleaseWorkspace":
      return { event: yield* release(command, place) } satisfies Outcome
    case "RunQualityGates":
    case "VerifyCommit":
    case "VerifyClaims":
    case "FinishPhase":
    case "VerifyContinuation":
    case "WriteContinuationState":
    case "WriteSummary":
      return { event: yield* workInPlace(command, place) } satisfies Outcome
  }
})
