/** The read model of a workspace: where it is and which requests it waits for. */
import { anyHost, type WorkspaceView } from "@reprise/protocol"
import type { WorkspaceState } from "./state.ts"

/** What an unprepared workspace does not have yet. */
const whereabouts = ({ place }: WorkspaceState) =>
  place === undefined
    ? { host: anyHost }
    : {
        host: place.host,
        root: place.root,
        directory: place.directory,
        ...(place.branch === undefined ? {} : { branch: place.branch })
      }

/** Undefined until the first request. */
export const view = (state: WorkspaceState): WorkspaceView | undefined =>
  state.runId === undefined
    ? undefined
    : {
        runId: state.runId,
        status: state.status === "new" ? "preparing" : state.status,
        ...whereabouts(state),
        requests: state.queue.map(({ requestId }) => requestId),
        ...(state.cancelled === undefined ? {} : { cancelled: state.cancelled })
      }
