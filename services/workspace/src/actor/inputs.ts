/** What a Workspace actor takes: its commands, the reports of its worker, and the ends of runs. */
import type { Subscription } from "@reprise/actor"
import { addressing, type EventOf, type PublicEvent, RunId, WorkspaceCommand, WorkspaceEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { Place } from "./work.ts"

/** The worker's private command. Only the first report of a request counts. */
const WorkspaceReport = Schema.TaggedUnion({
  Report: { runId: RunId, requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) }
})
export type WorkspaceReport = typeof WorkspaceReport.Type

/** How the worker addresses its reports. */
export const toWorkspaceActor = addressing<RunId>()({
  service: "workspace",
  keyField: "runId",
  commands: WorkspaceReport
})

export const commands = Schema.Union([WorkspaceCommand, WorkspaceReport])

const runEnds = ["RunCompleted", "RunFailed", "RunAborted"] as const satisfies ReadonlyArray<PublicEvent["_tag"]>
export type RunEnd = Extract<PublicEvent, { readonly _tag: (typeof runEnds)[number] }>

export const subscription: Subscription<RunEnd> = { types: runEnds, route: ({ runId }) => runId }

export type WorkspaceInput = WorkspaceCommand | WorkspaceReport | RunEnd
export type InputOf<Tag extends WorkspaceInput["_tag"]> = Extract<WorkspaceInput, { readonly _tag: Tag }>
/** A command that works in a prepared workspace. */
export type InPlaceCommand = Exclude<WorkspaceCommand, InputOf<"PrepareWorkspace" | "ReleaseWorkspace">>
/** A public event about the workspace: the outcome of a command. */
export type WorkspaceFact = EventOf<"workspace">
