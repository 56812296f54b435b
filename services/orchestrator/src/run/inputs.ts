/**
 * What moves a run: commands of humans and operators, the public events that answer what the run asked for, and what the
 * watch over runs reports.
 */
import { AwaitedWork, OrchestratorCommand, PublicEvent, type PublicEventType, RunId } from "@reprise/protocol"
import { Schema } from "effect"

/** Public events that mean something to a run, whoever publishes them. */
export const subscribed = [
  "WorkspacePrepared",
  "WorkspaceRefused",
  "WorkspaceFailed",
  "QualityPassed",
  "QualityFailed",
  "CommitVerified",
  "CommitRejected",
  "ClaimsVerified",
  "ClaimsRejected",
  "PhaseFinished",
  "PhaseBlocked",
  "ContinuationVerified",
  "ContinuationRejected",
  "ContinuationStateWritten",
  "SummaryWritten",
  "TurnCompleted",
  "TurnFailed",
  "VerdictReached",
  "ReviewFailed",
  "AgentWorking",
  "AgentIdle",
  "AgentPrompting",
  "AgentGone",
  "PermissionRefused",
  "SessionCreated",
  "SessionReused",
  "SessionReplaced",
  "SessionExpired",
  "SessionCompleted",
  "SessionAborted",
  "SessionFailed",
  "SessionArchived",
  "UsageCounted",
  "EscalationWithdrawn",
  "CommandRefused"
] as const satisfies ReadonlyArray<PublicEventType>

type SubscribedType = (typeof subscribed)[number]
type SubscribedEvent = Extract<PublicEvent, { readonly _tag: SubscribedType }>

/** Sent by the watch over runs (docs/design/run-machine.md#the-run-machine-orchestrator). */
export const RunReport = Schema.TaggedUnion({
  /** What the run waits for is not under way. */
  ReportStuck: {
    runId: RunId,
    /**
     * The run as it was looked at: about a run that has changed since, the report says nothing. Absent: the run has no
     * view, being that of a standalone session; the report says something if it has not changed for `stuckAfterMs`.
     */
    updatedAt: Schema.optionalKey(Schema.String),
    waitsFor: Schema.optionalKey(AwaitedWork),
    /** What is missing, and what was looked at, as a sentence. */
    missing: Schema.String,
    /** The state of the session in which an agent should work. */
    session: Schema.Literals(["usable", "doubtful", "ended"])
  }
})
export type RunReport = typeof RunReport.Type

export type RunInput = OrchestratorCommand | RunReport | SubscribedEvent

/** One kind of input by its name. */
export type InputOf<Tag extends RunInput["_tag"]> = Extract<RunInput, { readonly _tag: Tag }>

export const isSubscribed = <Input extends PublicEvent | OrchestratorCommand | RunReport>(
  input: Input
): input is Extract<Input, SubscribedEvent> => subscribed.some((type) => type === input._tag)

/** An input as it is kept in the journal while the run is paused. */
export const RunInput = Schema.Union([
  OrchestratorCommand,
  RunReport,
  PublicEvent.pipe(
    Schema.refine((event): event is SubscribedEvent => isSubscribed(event), { identifier: "SubscribedEvent" })
  )
])
