/** The journal of a Workspace actor: which requests it accepted, and their outcomes. */
import { Host, RunId, WorkspaceEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { Place, Request } from "./work.ts"

export const JournalEvent = Schema.TaggedUnion({
  /** A command was accepted; it waits until the requests before it are reported. */
  Requested: { ...Request.fields },
  /** A request is sent to its host: it is first in the queue. */
  Started: { requestId: Schema.String },
  /** Requests that will not be done because the run was aborted. */
  Dropped: { requestIds: Schema.Array(Schema.String) },
  /**
   * The host with the files is gone, or drained: they must be prepared again. `left`: where they are on a host that is
   * drained.
   */
  PlaceLost: { host: Host, left: Schema.optionalKey(Place) },
  /** The run is prepared on another host: the drained one is told to free what it has. */
  PlaceLeft: { runId: RunId, place: Place },
  /** The host was asked to stop the current request; its report is still awaited. */
  CancelAsked: { requestId: Schema.String },
  /** The result of a request. `place`: where the workspace is, if the request prepared it. */
  Reported: { requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) },
  /** Released without any work, because nothing had been prepared. */
  ReleasedUnused: { runId: RunId },
  /** The run ended before its workspace was released: the host was asked to free the lease. */
  RunEnded: { runId: RunId }
})
export type JournalEvent = typeof JournalEvent.Type
export type JournalEventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
