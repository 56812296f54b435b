/**
 * The working tree of one run (workspace). Requests are done one at a time, in the order they came, so that no two
 * things ever work in one tree; an aborted run's release goes before what still waits.
 */
import { type Delivery, Refusal } from "@reprise/actor"
import type { RunId, WorkspaceCommand } from "@reprise/protocol"
import { Result } from "effect"
import type { Place, Request, RunEnd, WorkspaceInput, WorkspaceJournal, WorkspaceReport } from "./messages.ts"

export interface WorkspaceState {
  readonly status: "new" | "active" | "released"
  readonly runId?: RunId
  /** Absent until the workspace was prepared. */
  readonly place?: Place
  /** The first is being done. */
  readonly queue: ReadonlyArray<Request>
  readonly cancelled?: string
  /** The run has ended, and the lease is free. */
  readonly ended: boolean
}

export const initial: WorkspaceState = { status: "new", queue: [], ended: false }

type Decision = Result.Result<ReadonlyArray<WorkspaceJournal>, Refusal>
type Release = Extract<WorkspaceCommand, { readonly _tag: "ReleaseWorkspace" }>

const refuse = (reason: string): Decision => Result.fail(new Refusal({ reason }))
const nothing: Decision = Result.succeed([])

const enqueue = (state: WorkspaceState, request: Request): ReadonlyArray<WorkspaceJournal> => {
  const requested: WorkspaceJournal = { _tag: "Requested", ...request }
  return state.queue.length === 0 ? [requested, { _tag: "Started", requestId: request.requestId }] : [requested]
}

/** A release of an aborted run overtakes: what waits is dropped, what is being done is given up. */
const overtake = (state: WorkspaceState, command: Release): ReadonlyArray<WorkspaceJournal> => {
  const [current, ...waiting] = state.queue
  if (command.outcome !== "aborted" || current === undefined) return []
  const dropped: ReadonlyArray<WorkspaceJournal> =
    waiting.length === 0 ? [] : [{ _tag: "Dropped", requestIds: waiting.map((one) => one.requestId) }]
  // Until a workspace is prepared nobody knows where to cancel; preparing ends by itself.
  return state.place === undefined || current.command._tag === "ReleaseWorkspace"
    ? dropped
    : [...dropped, { _tag: "CancelAsked", requestId: current.requestId }]
}

const release = (state: WorkspaceState, command: Release, requestId: string): Decision => {
  if (state.status === "released" || state.queue.some((one) => one.command._tag === "ReleaseWorkspace")) return nothing
  if (state.place === undefined && state.queue.length === 0) {
    return Result.succeed([{ _tag: "ReleasedUnused", runId: command.runId }])
  }
  return Result.succeed([...overtake(state, command), ...enqueue(state, { requestId, command })])
}

const request = (state: WorkspaceState, command: WorkspaceCommand, requestId: string): Decision => {
  if (command._tag === "ReleaseWorkspace") return release(state, command, requestId)
  if (command._tag !== "PrepareWorkspace") {
    if (state.status === "released") {
      return refuse(`The workspace of run ${command.runId} was released. Prepare it again first.`)
    }
    if (state.place === undefined) {
      return refuse(`The workspace of run ${command.runId} is not prepared yet. Prepare it first.`)
    }
  }
  return Result.succeed(enqueue(state, { requestId, command }))
}

/** The first report of the request that is being done counts; any other is late. */
const report = (state: WorkspaceState, command: WorkspaceReport): Decision => {
  const [current, next] = state.queue
  if (current?.requestId !== command.requestId) {
    return refuse(`The report '${command.event._tag}' of request ${command.requestId} is late: it changes nothing.`)
  }
  const reported: WorkspaceJournal = {
    _tag: "Reported",
    requestId: command.requestId,
    event: command.event,
    ...(command.place === undefined ? {} : { place: command.place })
  }
  if (next === undefined) return Result.succeed([reported])
  const unprepared = state.place === undefined && command.place === undefined
  return Result.succeed([
    reported,
    unprepared && next.command._tag === "ReleaseWorkspace"
      ? { _tag: "ReleasedUnused", runId: command.runId }
      : { _tag: "Started", requestId: next.requestId }
  ])
}

/** A run may end without anybody releasing its workspace: its lease must not outlive it. */
const runEnded = (state: WorkspaceState, event: RunEnd): Decision =>
  state.place === undefined || state.status === "released" || state.ended
    ? nothing
    : Result.succeed([{ _tag: "RunEnded", runId: event.runId }])

export const decide = (state: WorkspaceState, input: WorkspaceInput, delivery: Delivery): Decision => {
  if (input.runId !== delivery.key) {
    return refuse(`The message for ${delivery.key} names run ${input.runId}: they must be the same.`)
  }
  switch (input._tag) {
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
      return runEnded(state, input)
    case "Report":
      return report(state, input)
    default:
      return request(state, input, delivery.id)
  }
}

const without = (state: WorkspaceState, requestIds: ReadonlyArray<string>): WorkspaceState => ({
  ...state,
  queue: state.queue.filter((one) => !requestIds.includes(one.requestId))
})

const reported = (
  state: WorkspaceState,
  event: Extract<WorkspaceJournal, { readonly _tag: "Reported" }>
): WorkspaceState => {
  const { cancelled: _, ...rest } = without(state, [event.requestId])
  const place = event.place ?? state.place
  const released = event.event._tag === "WorkspaceReleased"
  return {
    ...rest,
    ...(place === undefined ? {} : { place }),
    status: released ? "released" : place === undefined ? "new" : rest.status === "released" ? "released" : "active"
  }
}

export const evolve = (state: WorkspaceState, event: WorkspaceJournal): WorkspaceState => {
  switch (event._tag) {
    case "Requested": {
      const request: Request = { requestId: event.requestId, command: event.command }
      const prepares = event.command._tag === "PrepareWorkspace"
      return {
        ...state,
        runId: event.command.runId,
        queue: [...state.queue, request],
        ...(prepares ? { status: state.place === undefined ? "new" : "active", ended: false } : {})
      }
    }
    case "Started":
      return state
    case "Dropped":
      return without(state, event.requestIds)
    case "CancelAsked":
      return { ...state, cancelled: event.requestId }
    case "Reported":
      return reported(state, event)
    case "ReleasedUnused":
      return { ...state, runId: event.runId, status: "released", queue: [] }
    case "RunEnded":
      return { ...state, ended: true }
  }
}
