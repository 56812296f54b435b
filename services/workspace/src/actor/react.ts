/** What a Workspace actor sends: work to the host that has the files, the results to everybody. */
import { type Outgoing, publish, requestWork } from "@reprise/actor"
import { anyHost, type Host, type RunId } from "@reprise/protocol"
import type { JournalEvent } from "./journal.ts"
import type { WorkspaceState } from "./state.ts"
import type { WorkspaceWork } from "./work.ts"

/** It has no timers, and its only work is `WorkspaceWork`. */
type WorkspaceOutgoing = Outgoing<never, WorkspaceWork>

const toHost = (host: Host, work: WorkspaceWork): ReadonlyArray<WorkspaceOutgoing> => [requestWork(host, work)]

/** Leases are in the broker, so that any host can free them. */
const freeUnknownLease = (runId: RunId) => toHost(anyHost, { _tag: "FreeLease", runId })

const start = (state: WorkspaceState, requestId: string): ReadonlyArray<WorkspaceOutgoing> => {
  const request = state.queue.find((one) => one.requestId === requestId)
  if (request === undefined) return []
  if (state.place !== undefined) return toHost(state.place.host, { _tag: "DoRequest", ...request, place: state.place })
  const { command } = request
  // Any host may prepare, unless the command names one.
  return toHost(command._tag === "PrepareWorkspace" ? command.host : anyHost, { _tag: "DoRequest", ...request })
}

const outgoing = (state: WorkspaceState, event: JournalEvent): ReadonlyArray<WorkspaceOutgoing> => {
  const { place, runId } = state
  switch (event._tag) {
    case "Started":
      return start(state, event.requestId)
    case "CancelAsked":
      return place === undefined || runId === undefined
        ? []
        : toHost(place.host, { _tag: "CancelRequest", runId, requestId: event.requestId })
    case "RunEnded":
      return place === undefined
        ? freeUnknownLease(event.runId)
        : toHost(place.host, { _tag: "FreeLease", runId: event.runId, place })
    case "PlaceLeft":
      return toHost(event.place.host, { _tag: "LeavePlace", runId: event.runId, place: event.place })
    case "Reported":
      return [publish(event.event)]
    case "ReleasedUnused":
      return [publish({ _tag: "WorkspaceReleased", runId: event.runId }), ...freeUnknownLease(event.runId)]
    case "Requested":
    case "PlaceLost":
    case "Dropped":
      return []
  }
}

export const react = (state: WorkspaceState, events: ReadonlyArray<JournalEvent>): ReadonlyArray<WorkspaceOutgoing> =>
  events.flatMap((event) => outgoing(state, event))
