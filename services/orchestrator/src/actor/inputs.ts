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
  "SessionArchived",
  "EscalationWithdrawn",
  "CommandRefused"
] as const satisfies ReadonlyArray<PublicEventType>

type Subscribed = (typeof subscribed)[number]

export type RunInput = OrchestratorCommand | Extract<PublicEvent, { readonly _tag: Subscribed }>

/** One kind of input by its name. */
export type InputOf<Tag extends RunInput["_tag"]> = Extract<RunInput, { readonly _tag: Tag }>

const isSubscribed = (event: PublicEvent): event is Extract<PublicEvent, { readonly _tag: Subscribed }> =>
  subscribed.some((type) => type === event._tag)

/** An input as it is kept in the journal while the run is paused. */
export const RunInput = Schema.Union([
  OrchestratorCommand,
  PublicEvent.pipe(Schema.refine(isSubscribed, { identifier: "SubscribedEvent" }))
])
