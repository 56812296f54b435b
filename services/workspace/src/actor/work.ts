/** What a Workspace actor asks a host to do: to do a command, or to stop doing one. */
import { Host, RunId, WorkspaceCommand } from "@reprise/protocol"
import { Schema } from "effect"

/** Where a prepared run's files are. */
export const Place = Schema.Struct({
  host: Host,
  /** Absolute path of the repository's top directory, which contains `.reprise`. */
  root: Schema.String,
  /** Absolute path of the working tree: the root, or a git worktree. */
  directory: Schema.String,
  branch: Schema.optionalKey(Schema.String),
  /** The address of the remote that the root is a clone of, and to which finished phases are pushed. */
  remote: Schema.optionalKey(Schema.String),
  /** The id of the working tree in its lease. */
  leaseId: Schema.String,
  /** Paths that were dirty when the run began with `--allow-dirty`, relative; a directory ends in `/`. */
  tolerated: Schema.Array(Schema.String)
})
export type Place = typeof Place.Type

/** An accepted command, under the id of the message that brought it. */
export const Request = Schema.Struct({ requestId: Schema.String, command: WorkspaceCommand })
export type Request = typeof Request.Type

export const WorkspaceWork = Schema.TaggedUnion({
  DoRequest: { ...Request.fields, place: Schema.optionalKey(Place) },
  /** Stop doing a request: the run was aborted. */
  CancelRequest: { runId: RunId, requestId: Schema.String },
  /**
   * The run is over: others may use the working tree, although nobody has released it. Without `place` the run was never
   * prepared, and a host may have died between taking a lease and saying so.
   */
  FreeLease: { runId: RunId, place: Schema.optionalKey(Place) },
  /** The host is drained and the run is prepared on another one: the worktree goes, unless something in it was not pushed. */
  LeavePlace: { runId: RunId, place: Place }
})
export type WorkspaceWork = typeof WorkspaceWork.Type
export type WorkOf<Tag extends WorkspaceWork["_tag"]> = Extract<WorkspaceWork, { readonly _tag: Tag }>
