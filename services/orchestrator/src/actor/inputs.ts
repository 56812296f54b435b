/** What moves a run: commands of humans and operators, and the public events that answer what the run asked for. */
import { OrchestratorCommand, PublicEvent, type PublicEventType } from "@reprise/protocol"
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

export type RunInput = OrchestratorCommand | SubscribedEvent

/** One kind of input by its name. */
export type InputOf<Tag extends RunInput["_tag"]> = Extract<RunInput, { readonly _tag: Tag }>

export const isSubscribed = <Input extends PublicEvent | OrchestratorCommand>(
  input: Input
): input is Extract<Input, SubscribedEvent> => subscribed.some((type) => type === input._tag)

/** An input as it is kept in the journal while the run is paused. */
export const RunInput = Schema.Union([
  OrchestratorCommand,
  PublicEvent.pipe(
    Schema.refine((event): event is SubscribedEvent => isSubscribed(event), { identifier: "SubscribedEvent" })
  )
])
