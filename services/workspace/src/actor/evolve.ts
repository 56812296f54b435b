import type { JournalEvent, JournalEventOf } from "./journal.ts"
import { type WorkspaceState, without } from "./state.ts"
import type { Request } from "./work.ts"

/** A workspace that is prepared again is usable again, also after its release or the end of its run. */
const addRequest = (state: WorkspaceState, { command, requestId }: Request): WorkspaceState => ({
  ...state,
  runId: command.runId,
  queue: [...state.queue, { requestId, command }],
  ...(command._tag === "PrepareWorkspace" ? { status: state.place === undefined ? "new" : "active", ended: false } : {})
})

const statusAfter = (
  { status }: WorkspaceState,
  event: JournalEventOf<"Reported">["event"],
  isPrepared: boolean
): WorkspaceState["status"] => {
  if (event._tag === "WorkspaceReleased" || (isPrepared && status === "released")) return "released"
  return isPrepared ? "active" : "new"
}

const addReport = (state: WorkspaceState, report: JournalEventOf<"Reported">): WorkspaceState => {
  const { cancelled: _, ...rest } = without(state, [report.requestId])
  const place = report.place ?? state.place
  return {
    ...rest,
    ...(place === undefined ? {} : { place }),
    status: statusAfter(state, report.event, place !== undefined)
  }
}

export const evolve = (state: WorkspaceState, event: JournalEvent): WorkspaceState => {
  switch (event._tag) {
    case "Requested":
      return addRequest(state, event)
    case "Started":
      return state
    case "Dropped":
      return without(state, event.requestIds)
    case "PlaceLost": {
      const { cancelled: _, left: _left, place: _place, ...rest } = state
      return { ...rest, ...(event.left === undefined ? {} : { left: event.left }), status: "new" }
    }
    case "PlaceLeft": {
      const { left: _, ...rest } = state
      return rest
    }
    case "CancelAsked":
      return { ...state, cancelled: event.requestId }
    case "Reported":
      return addReport(state, event)
    case "ReleasedUnused":
      return { ...state, runId: event.runId, status: "released", queue: [] }
    case "RunEnded":
      return { ...state, ended: true }
  }
}
