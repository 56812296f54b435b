/** The working tree of one run, and the requests that it waits for. */
import type { RunId } from "@reprise/protocol"
import type { Place, Request } from "./work.ts"

export interface WorkspaceState {
  /** `new`: not prepared yet. `released`: the run must prepare it again before it uses it. */
  readonly status: "new" | "active" | "released"
  readonly runId?: RunId
  /** Absent until the workspace was prepared. */
  readonly place?: Place
  /** Where the files are on a host that is drained, until the run is prepared again. */
  readonly left?: Place
  /** The first request is being done, the others wait. */
  readonly queue: ReadonlyArray<Request>
  /** The id of the request that its host was asked to stop. */
  readonly cancelled?: string
  /** The run has ended, and the lease is free. */
  readonly ended: boolean
}

export const initial: WorkspaceState = { status: "new", queue: [], ended: false }

/** The state without these requests, which were reported or dropped. */
export const without = (state: WorkspaceState, requestIds: ReadonlyArray<string>): WorkspaceState => ({
  ...state,
  queue: state.queue.filter(({ requestId }) => !requestIds.includes(requestId))
})
