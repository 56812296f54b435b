/** What the Workspace actor and its worker tell each other, and what the actor remembers. */
import { Host, type PublicEvent, RunId, WorkspaceCommand, WorkspaceEvent } from "@reprise/protocol"
import { Schema } from "effect"

/** Where a prepared run's files are. */
export const Place = Schema.Struct({
  host: Host,
  /** Absolute path of the repository's top directory; `.reprise` lies in it. */
  root: Schema.String,
  /** Absolute path of the working tree: the root, or a git worktree. */
  directory: Schema.String,
  branch: Schema.optionalKey(Schema.String),
  /** Names the working tree in its lease. */
  leaseId: Schema.String,
  /** What was dirty when the run began with leave to (`--allow-dirty`), relative; a directory ends in `/`. */
  tolerated: Schema.Array(Schema.String)
})
export type Place = typeof Place.Type

/** A command taken on, under the id of the message that brought it. */
export const Request = Schema.Struct({ requestId: Schema.String, command: WorkspaceCommand })
export type Request = typeof Request.Type

/** What a host is asked to do. */
export const WorkspaceWork = Schema.TaggedUnion({
  DoRequest: { ...Request.fields, place: Schema.optionalKey(Place) },
  /** Give up a request that is being done: the run was aborted. */
  CancelRequest: { runId: RunId, requestId: Schema.String },
  /** The run is over: others may use the working tree, though nobody has released it. */
  FreeLease: { runId: RunId, place: Place }
})
export type WorkspaceWork = typeof WorkspaceWork.Type

/** What a workspace tells the world. */
export type WorkspaceFact = typeof WorkspaceEvent.Type

/** The worker's private command: what came of a request. The first report of a request wins. */
export const WorkspaceReport = Schema.TaggedUnion({
  Report: { runId: RunId, requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) }
})
export type WorkspaceReport = typeof WorkspaceReport.Type

export const WorkspaceActorCommand = Schema.Union([WorkspaceCommand, WorkspaceReport])

/** Public events of the orchestrator that end a run. */
export const runEnds = ["RunCompleted", "RunFailed", "RunAborted"] as const
export type RunEnd = Extract<PublicEvent, { readonly _tag: (typeof runEnds)[number] }>

export type WorkspaceInput = typeof WorkspaceActorCommand.Type | RunEnd

/** The journal. */
export const WorkspaceJournal = Schema.TaggedUnion({
  Requested: { ...Request.fields },
  /** A request has come to its turn and is sent to its host. */
  Started: { requestId: Schema.String },
  /** Requests that will not be done because the run was aborted. */
  Dropped: { requestIds: Schema.Array(Schema.String) },
  CancelAsked: { requestId: Schema.String },
  Reported: { requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) },
  /** Released without work: nothing had been prepared. */
  ReleasedUnused: { runId: RunId },
  RunEnded: { runId: RunId }
})
export type WorkspaceJournal = typeof WorkspaceJournal.Type
