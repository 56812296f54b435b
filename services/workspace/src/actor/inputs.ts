/** What a Workspace actor takes: its commands, the reports of its worker, and the ends of runs. */
import type { Subscription } from "@reprise/actor"
import { type PublicEvent, RunId, WorkspaceCommand, WorkspaceEvent } from "@reprise/protocol"
import { Schema } from "effect"
import { Place } from "./work.ts"

/** The worker's private command. Only the first report of a request counts. */
const WorkspaceReport = Schema.TaggedUnion({
  Report: { runId: RunId, requestId: Schema.String, event: WorkspaceEvent, place: Schema.optionalKey(Place) }
})
export type WorkspaceReport = typeof WorkspaceReport.Type

export const commands = Schema.Union([WorkspaceCommand, WorkspaceReport])

const runEnds = ["RunCompleted", "RunFailed", "RunAborted"] as const satisfies ReadonlyArray<PublicEvent["_tag"]>
export type RunEnd = Extract<PublicEvent, { readonly _tag: (typeof runEnds)[number] }>

const isRunEnd = (event: PublicEvent): event is RunEnd => runEnds.some((type) => type === event._tag)

export const subscription: Subscription = {
  types: runEnds,
  route: (event) => (isRunEnd(event) ? event.runId : undefined)
}

export type WorkspaceInput = WorkspaceCommand | WorkspaceReport | RunEnd
export type CommandOf<Tag extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Tag }>
/** A public event about the workspace: what came of a command. */
export type WorkspaceFact = typeof WorkspaceEvent.Type
