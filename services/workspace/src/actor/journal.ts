/** The journal of a Workspace actor. */
import { RunId, WorkspaceEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { Place, Request } from "./work.ts"

export const JournalEvent = Schema.TaggedUnion({
  Requested: { ...Request.fields },
  /** A request came to its turn and is sent to its host. */
  Started: { requestId: Schema.String },
  /** Requests that will not be done because the run was aborted. */
  Dropped: { requestIds: Schema.Array(Schema.String) },
  CancelAsked: { requestId: Schema.String },
  /** The result of a request. `place`: where the workspace is, if the request prepared it. */
  Reported: { requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) },
  /** Released without any work, because nothing had been prepared. */
  ReleasedUnused: { runId: RunId },
  RunEnded: { runId: RunId }
})
export type JournalEvent = typeof JournalEvent.Type
export type JournalEventOf<Tag extends JournalEvent["_tag"]> = Extract<JournalEvent, { readonly _tag: Tag }>
