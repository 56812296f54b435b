import { type Actor, type Outgoing, publish, requestWork } from "@reprise/actor"
import { anyHost, type WorkspaceView } from "@reprise/protocol"
import {
  runEnds,
  WorkspaceActorCommand,
  type WorkspaceInput,
  WorkspaceJournal,
  type WorkspaceWork
} from "./messages.ts"
import { decide, evolve, initial, type WorkspaceState } from "./Workspace.ts"

const start = (state: WorkspaceState, requestId: string): ReadonlyArray<Outgoing> => {
  const request = state.queue.find((one) => one.requestId === requestId)
  if (request === undefined) return []
  const { command } = request
  const host = state.place?.host ?? (command._tag === "PrepareWorkspace" ? command.host : anyHost)
  const work: WorkspaceWork = {
    _tag: "DoRequest",
    ...request,
    ...(state.place === undefined ? {} : { place: state.place })
  }
  return [requestWork(host, work)]
}

const outgoing = (state: WorkspaceState, event: WorkspaceJournal): ReadonlyArray<Outgoing> => {
  switch (event._tag) {
    case "Started":
      return start(state, event.requestId)
    case "CancelAsked": {
      if (state.place === undefined || state.runId === undefined) return []
      const cancel: WorkspaceWork = { _tag: "CancelRequest", runId: state.runId, requestId: event.requestId }
      return [requestWork(state.place.host, cancel)]
    }
    case "Reported":
      return [publish(event.event)]
    case "ReleasedUnused":
      return [publish({ _tag: "WorkspaceReleased", runId: event.runId })]
    case "RunEnded": {
      if (state.place === undefined) return []
      const free: WorkspaceWork = { _tag: "FreeLease", runId: event.runId, place: state.place }
      return [requestWork(state.place.host, free)]
    }
    default:
      return []
  }
}

/** The read model; undefined until something was asked for. */
const view = (state: WorkspaceState): WorkspaceView | undefined => {
  if (state.runId === undefined) return undefined
  const { place } = state
  return {
    runId: state.runId,
    status: state.status === "new" ? "preparing" : state.status,
    host: place?.host ?? anyHost,
    ...(place === undefined ? {} : { root: place.root, directory: place.directory }),
    ...(place?.branch === undefined ? {} : { branch: place.branch }),
    requests: state.queue.map((one) => one.requestId),
    ...(state.cancelled === undefined ? {} : { cancelled: state.cancelled })
  }
}

/** Key: run id. */
export const workspaceActor: Actor<WorkspaceState, WorkspaceInput, WorkspaceJournal> = {
  service: "workspace",
  commands: WorkspaceActorCommand,
  subscription: {
    types: runEnds,
    route: (event) => (runEnds.some((type) => type === event._tag) ? event.runId : undefined)
  },
  journal: WorkspaceJournal,
  initial,
  decide,
  evolve,
  react: (state, events) => events.flatMap((event) => outgoing(state, event)),
  runOf: (state) => state.runId,
  view,
  snapshotVersion: 1
}
