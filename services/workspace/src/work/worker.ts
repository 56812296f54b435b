/** Does what Workspace actors ask of this host, and reports the results to them. */
import { ActorConfig, Messenger, type WorkContext, WorkFault, workerLayer } from "@reprise/actor"
import { Cause, Effect, Layer } from "effect"
import { toWorkspaceActor, type WorkspaceFact } from "../actor/inputs.ts"
import { type WorkOf, WorkspaceWork } from "../actor/work.ts"
import { doCommand, type Outcome, release } from "./doCommand.ts"
import type {
  GitFault,
  HostFault,
  Impossible,
  InUse,
  LockHeld,
  NotAFile,
  OutsideWorkspace,
  UnreadableTree
} from "./faults.ts"
import { Leases } from "./leases/Leases.ts"
import { makeRunning, type Running } from "./running.ts"
import { slotsOf } from "./slots/Slots.ts"

type DoRequest = WorkOf<"DoRequest">
type Fault = GitFault | HostFault | Impossible | InUse | LockHeld | NotAFile | OutsideWorkspace | UnreadableTree

const failed = ({ command }: DoRequest, reason: string): Outcome => {
  const event: WorkspaceFact = {
    _tag: "WorkspaceFailed",
    runId: command.runId,
    operation: command._tag,
    reason,
    ...("phase" in command ? { phase: command.phase } : {})
  }
  return { event }
}

const cancelled = (work: DoRequest): Outcome => failed(work, "Stopped, because the run was aborted.")

/** A phase that is finished here may be the last one: a host that is drained says so. */
const told = (event: WorkspaceFact, { isDrained }: WorkContext): WorkspaceFact =>
  event._tag === "PhaseFinished" && isDrained() ? { ...event, drained: true } : event

/** The id is the same at every delivery, so that work that is done twice is reported once. */
const report = Effect.fnUntraced(function* (work: DoRequest, context: WorkContext, { event, place }: Outcome) {
  const messenger = yield* Messenger
  const { runId } = work.command
  const command = toWorkspaceActor(runId).Report({
    requestId: work.requestId,
    event: told(event, context),
    ...(place === undefined ? {} : { place })
  })
  yield* messenger.send(command, { id: `${context.id}.report`, causation: context.id })
})

/** `settled`: reported or dropped already. */
type RequestStatus = "wanted" | "cancelled" | "settled"

/** Asks the actor, because work may be delivered long after it was requested. Without an answer the work is wanted. */
const statusOf = Effect.fnUntraced(
  function* (work: DoRequest): Effect.fn.Return<RequestStatus, unknown, Messenger> {
    const messenger = yield* Messenger
    const view = yield* messenger.show.workspace(work.command.runId)
    if (!view.requests.includes(work.requestId)) return "settled"
    return view.cancelled === work.requestId ? "cancelled" : "wanted"
  },
  (effect) => Effect.catch(effect, () => Effect.succeed("wanted" as const))
)

const isTransient = (fault: Fault): boolean => {
  switch (fault._tag) {
    case "HostFault":
    case "LockHeld":
      return true
    case "GitFault":
      return fault.transient
    case "Impossible":
    case "InUse":
    case "NotAFile":
    case "OutsideWorkspace":
    case "UnreadableTree":
      return false
  }
}

const perform = (work: DoRequest) =>
  doCommand(work, work.place).pipe(
    Effect.map((outcome): Outcome => outcome),
    Effect.catch((fault) =>
      isTransient(fault)
        ? Effect.fail(new WorkFault({ operation: work.command._tag, cause: fault }))
        : Effect.succeed(failed(work, fault.message))
    )
  )

const performUnlessCancelled = Effect.fnUntraced(function* (work: DoRequest, cancellation: Effect.Effect<void>) {
  const status = yield* statusOf(work)
  switch (status) {
    case "settled":
      return undefined
    case "cancelled":
      return cancelled(work)
    case "wanted":
      return yield* Effect.raceFirst(perform(work), Effect.as(cancellation, cancelled(work)))
  }
})

const performAndReport = Effect.fnUntraced(function* (
  work: DoRequest,
  context: WorkContext,
  cancellation: Effect.Effect<void>
) {
  const outcome = yield* performUnlessCancelled(work, cancellation)
  if (outcome === undefined) return
  yield* report(work, context, outcome).pipe(
    Effect.mapError((cause) => new WorkFault({ operation: "reporting", cause }))
  )
})

const doRequest = (running: Running, work: DoRequest, context: WorkContext) =>
  running.during(work.requestId, (cancellation) => performAndReport(work, context, cancellation))

const freeLease = Effect.fnUntraced(function* ({ place, runId }: WorkOf<"FreeLease">) {
  const leases = yield* Leases
  const free =
    place === undefined
      ? leases.freeAll(runId)
      : leases.free({ leaseId: place.leaseId, runId, directory: place.directory })
  yield* free.pipe(Effect.mapError((cause) => new WorkFault({ operation: "freeing the workspace", cause })))
})

/** The run goes on elsewhere, from what was pushed: nothing is kept here but what was not. */
const leave = ({ place, runId }: WorkOf<"LeavePlace">) =>
  release({ _tag: "ReleaseWorkspace", runId, outcome: "completed" }, place).pipe(
    Effect.catch((fault) =>
      isTransient(fault)
        ? Effect.fail(new WorkFault({ operation: "leaving the workspace", cause: fault }))
        : Effect.logWarning(`what is here of run ${runId} stays: ${fault.message}`)
    )
  )

const make = Effect.fnUntraced(function* (limit: number | undefined) {
  const { host } = yield* ActorConfig
  const running = makeRunning()
  const slots = limit === undefined ? {} : yield* slotsOf(limit)

  const handle = Effect.fnUntraced(function* (work: WorkspaceWork, context: WorkContext) {
    switch (work._tag) {
      case "DoRequest":
        return yield* doRequest(running, work, context)
      case "CancelRequest":
        return yield* running.cancel(work.requestId)
      case "FreeLease":
        return yield* freeLease(work)
      case "LeavePlace":
        return yield* Effect.asVoid(leave(work))
    }
  })

  return workerLayer({
    service: "workspace",
    host,
    work: WorkspaceWork,
    handle,
    giveUp: (work, cause, context) => {
      if (work._tag !== "DoRequest") return Effect.void
      const error = Cause.squash(cause)
      return report(work, context, failed(work, error instanceof Error ? error.message : String(error)))
    },
    // A run has one request at a time; a cancellation must not wait until the gates of other runs have ended.
    concurrency: 64,
    ...slots
  })
})

/** `limit`: how many runs the host may have at work at a time. Default: any number. */
export const workspaceWorker = (limit?: number) => Layer.unwrap(make(limit))
