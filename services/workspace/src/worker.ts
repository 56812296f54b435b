/** Does what Workspace actors ask of this host, and reports what came of it. */
import { ActorConfig, Messenger, type WorkContext, WorkFault, workerLayer } from "@reprise/actor"
import { WorkspaceView } from "@reprise/protocol"
import { Cause, Deferred, Effect, Layer, Schema } from "effect"
import { doCommand, type Outcome } from "./doCommand.ts"
import { type WorkspaceFact, type WorkspaceReport, WorkspaceWork } from "./domain/messages.ts"
import type { GitFault, HostFault, Impossible, InUse, NotAFile, OutsideWorkspace } from "./faults.ts"
import { Leases } from "./Leases.ts"

type DoRequest = Extract<WorkspaceWork, { readonly _tag: "DoRequest" }>
type Fault = GitFault | HostFault | Impossible | InUse | NotAFile | OutsideWorkspace

const decodeView = Schema.decodeUnknownEffect(WorkspaceView)

const failed = ({ command }: DoRequest, reason: string): WorkspaceFact => ({
  _tag: "WorkspaceFailed",
  runId: command.runId,
  operation: command._tag,
  reason,
  ...("phase" in command ? { phase: command.phase } : {})
})

/** The same id at every delivery: of a piece of work that is done twice, one report is delivered. */
const report = Effect.fnUntraced(function* (work: DoRequest, context: WorkContext, { event, place }: Outcome) {
  const messenger = yield* Messenger
  const { runId } = work.command
  const command: WorkspaceReport = {
    _tag: "Report",
    runId,
    requestId: work.requestId,
    event,
    ...(place === undefined ? {} : { place })
  }
  yield* messenger.send("workspace", runId, command, {
    id: `${context.id}.report`,
    causation: context.id
  })
})

/** What the actor thinks of a request now; a piece of work may be delivered long after it was asked for. */
const standing = Effect.fnUntraced(function* (work: DoRequest) {
  const messenger = yield* Messenger
  const view = yield* messenger.query("workspace", "show", { id: work.command.runId }).pipe(Effect.flatMap(decodeView))
  if (!view.requests.includes(work.requestId)) return "settled" as const
  return view.cancelled === work.requestId ? ("cancelled" as const) : ("wanted" as const)
})

const mayWorkNextTime = (fault: Fault) => fault._tag === "HostFault" || (fault._tag === "GitFault" && fault.transient)

const perform = (work: DoRequest) =>
  doCommand(work.command, work.place).pipe(
    Effect.map((outcome): Outcome => outcome),
    Effect.catch((fault) =>
      mayWorkNextTime(fault)
        ? Effect.fail(new WorkFault({ operation: work.command._tag, cause: fault }))
        : Effect.succeed<Outcome>({ event: failed(work, fault.message) })
    )
  )

const givenUp = (work: DoRequest): Outcome => ({ event: failed(work, "Given up: the run was aborted.") })

const notReported = (cause: unknown) => new WorkFault({ operation: "reporting", cause })

const make = Effect.gen(function* () {
  const { host } = yield* ActorConfig
  /** By request, completed to give it up. */
  const running = new Map<string, Deferred.Deferred<void>>()

  const doRequest = Effect.fnUntraced(
    function* (work: DoRequest, context: WorkContext) {
      const cancelled = yield* Deferred.make<void>()
      // Before the actor is asked: a cancellation that comes in between finds the request here.
      running.set(work.requestId, cancelled)
      const now = yield* standing(work).pipe(Effect.catch(() => Effect.succeed("wanted" as const)))
      if (now === "settled") return
      const outcome =
        now === "cancelled"
          ? givenUp(work)
          : yield* Effect.raceFirst(perform(work), Effect.as(Deferred.await(cancelled), givenUp(work)))
      yield* report(work, context, outcome).pipe(Effect.mapError(notReported))
    },
    (effect, work) =>
      Effect.ensuring(
        effect,
        Effect.sync(() => running.delete(work.requestId))
      )
  )

  const cancelRequest = (requestId: string) =>
    Effect.suspend(() => {
      const cancelled = running.get(requestId)
      return cancelled === undefined ? Effect.void : Deferred.succeed(cancelled, undefined)
    }).pipe(Effect.asVoid)

  const handle = Effect.fnUntraced(function* (work: WorkspaceWork, context: WorkContext) {
    switch (work._tag) {
      case "DoRequest":
        return yield* doRequest(work, context)
      case "CancelRequest":
        return yield* cancelRequest(work.requestId)
      case "FreeLease": {
        const leases = yield* Leases
        const { directory, leaseId } = work.place
        yield* leases
          .free({ leaseId, runId: work.runId, directory })
          .pipe(Effect.mapError((cause) => new WorkFault({ operation: "freeing the workspace", cause })))
      }
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
      const reason = error instanceof Error ? error.message : String(error)
      return report(work, context, { event: failed(work, reason) })
    },
    // Each run has one request at a time; a cancellation must not wait until other runs' gates have ended.
    concurrency: 64
  })
})

export const workspaceWorker = Layer.unwrap(make)
