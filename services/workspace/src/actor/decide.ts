/**
 * Decides how a workspace handles commands, reports and the end of its run (docs/design/workspace.md#workspace).
 * Requests are done one at a time, in the order in which they arrived, so that no two ever work in the same tree. Only
 * the release of an aborted run stops waiting requests.
 */
import { type Delivery, type Refusal, refusing } from "@reprise/actor"
import { Result } from "effect"
import { evolve } from "./evolve.ts"
import type { InPlaceCommand, InputOf, RunEnd, WorkspaceInput, WorkspaceReport } from "./inputs.ts"
import type { JournalEvent } from "./journal.ts"
import type { WorkspaceState } from "./state.ts"
import type { Place, Request } from "./work.ts"

type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

const refuse = refusing("workspace")
const nothing: Decision = Result.succeed([])

const enqueue = (state: WorkspaceState, request: Request): ReadonlyArray<JournalEvent> => {
  const requested: JournalEvent = { _tag: "Requested", ...request }
  return state.queue.length === 0 ? [requested, { _tag: "Started", requestId: request.requestId }] : [requested]
}

/** Whatever the host that is left was asked for is not wanted any more. */
const leave = (
  place: Place,
  { queue }: WorkspaceState,
  { drained }: InputOf<"PrepareWorkspace">
): ReadonlyArray<JournalEvent> => [
  ...(queue.length === 0 ? [] : [{ _tag: "Dropped" as const, requestIds: queue.map(({ requestId }) => requestId) }]),
  { _tag: "PlaceLost", host: place.host, ...(drained === true ? { left: place } : {}) }
]

const prepare = (state: WorkspaceState, command: InputOf<"PrepareWorkspace">, requestId: string): Decision => {
  const { place } = state
  const left = place !== undefined && place.host === command.leaving ? leave(place, state, command) : []
  return Result.succeed([...left, ...enqueue(left.reduce(evolve, state), { requestId, command })])
}

const requirePrepared = (state: WorkspaceState, { runId }: InPlaceCommand): Result.Result<void, Refusal> => {
  if (state.status === "released") {
    return refuse("released", `The workspace of run ${runId} was released. Prepare it again first.`)
  }
  return state.place === undefined
    ? refuse("not-prepared", `The workspace of run ${runId} is not prepared yet. Prepare it first.`)
    : Result.void
}

const enqueueInPlace = (state: WorkspaceState, command: InPlaceCommand, requestId: string): Decision =>
  Result.map(requirePrepared(state, command), () => enqueue(state, { requestId, command }))

/** When an aborted run is released, waiting requests are dropped and the current one is stopped. */
const stopEarlierRequests = (
  state: WorkspaceState,
  command: InputOf<"ReleaseWorkspace">
): ReadonlyArray<JournalEvent> => {
  const [current, ...waiting] = state.queue
  if (command.outcome !== "aborted" || current === undefined) return []
  const dropped: ReadonlyArray<JournalEvent> =
    waiting.length === 0 ? [] : [{ _tag: "Dropped", requestIds: waiting.map(({ requestId }) => requestId) }]
  // Before a workspace is prepared its host is not known; preparing cannot be cancelled.
  return state.place === undefined ? dropped : [...dropped, { _tag: "CancelAsked", requestId: current.requestId }]
}

const release = (state: WorkspaceState, command: InputOf<"ReleaseWorkspace">, requestId: string): Decision => {
  const isAsked = state.queue.some((request) => request.command._tag === "ReleaseWorkspace")
  if (state.status === "released" || isAsked) return nothing
  if (state.place === undefined && state.queue.length === 0) {
    return Result.succeed([{ _tag: "ReleasedUnused", runId: command.runId }])
  }
  return Result.succeed([...stopEarlierRequests(state, command), ...enqueue(state, { requestId, command })])
}

/** A run that is prepared on the same host again has taken its files back. */
const leftBehind = (
  { left }: WorkspaceState,
  runId: WorkspaceReport["runId"],
  place: WorkspaceReport["place"]
): ReadonlyArray<JournalEvent> =>
  left === undefined || place === undefined || place.host === left.host
    ? []
    : [{ _tag: "PlaceLeft", runId, place: left }]

/** Only the first report of the current request counts. */
const report = (state: WorkspaceState, { event, place, requestId, runId }: WorkspaceReport): Decision => {
  const [current, next] = state.queue
  if (current?.requestId !== requestId) {
    return refuse("stale", `The report '${event._tag}' of request ${requestId} is late and changes nothing.`)
  }
  const reported: JournalEvent = { _tag: "Reported", requestId, event, ...(place === undefined ? {} : { place }) }
  const reports = [reported, ...leftBehind(state, runId, place)]
  if (next === undefined) return Result.succeed(reports)
  const isUnprepared = state.place === undefined && place === undefined
  return Result.succeed([
    ...reports,
    isUnprepared && next.command._tag === "ReleaseWorkspace"
      ? { _tag: "ReleasedUnused", runId }
      : { _tag: "Started", requestId: next.requestId }
  ])
}

/**
 * A run may end without anybody releasing its workspace: its lease must not outlive the run. What is being prepared for a
 * run that was aborted is released after it.
 */
const endRun = (state: WorkspaceState, { runId }: RunEnd): Decision => {
  const { ended, place, queue, status } = state
  const wasAsked = place !== undefined || (state.runId !== undefined && queue.length === 0)
  return wasAsked && status !== "released" && !ended ? Result.succeed([{ _tag: "RunEnded", runId }]) : nothing
}

export const decide = (state: WorkspaceState, input: WorkspaceInput, delivery: Delivery): Decision => {
  if (input.runId !== delivery.key) {
    return refuse("misaddressed", `The message for ${delivery.key} names run ${input.runId}: they must be the same.`)
  }
  switch (input._tag) {
    case "PrepareWorkspace":
      return prepare(state, input, delivery.id)
    case "RunQualityGates":
    case "VerifyCommit":
    case "VerifyClaims":
    case "FinishPhase":
    case "VerifyContinuation":
    case "WriteContinuationState":
    case "WriteSummary":
      return enqueueInPlace(state, input, delivery.id)
    case "ReleaseWorkspace":
      return release(state, input, delivery.id)
    case "Report":
      return report(state, input)
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
      return endRun(state, input)
  }
}
