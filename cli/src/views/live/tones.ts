/** How much a line asks for attention. Pure. */
import type { PublicEvent } from "@reprise/protocol"

export type Tone = "title" | "good" | "bad" | "attention" | "faint" | "plain"

const tones: { readonly [Type in PublicEvent["_tag"]]?: Tone } = {
  RunStarted: "title",
  PhaseStarted: "title",
  PhaseCompleted: "good",
  RunCompleted: "good",
  QualityPassed: "good",
  CommitVerified: "good",
  RunFailed: "bad",
  RunAborted: "bad",
  QualityFailed: "bad",
  TurnFailed: "bad",
  AgentFailed: "bad",
  AgentGone: "bad",
  SessionFailed: "bad",
  SessionAborted: "bad",
  ReviewFailed: "bad",
  CommitRejected: "bad",
  ClaimsRejected: "bad",
  ContinuationRejected: "bad",
  WorkspaceRefused: "bad",
  WorkspaceFailed: "bad",
  PhaseBlocked: "bad",
  CommandRefused: "bad",
  EscalationRaised: "attention",
  AgentPrompting: "attention",
  CheckpointReached: "attention",
  RunPaused: "attention",
  TurnProgress: "faint",
  SessionCreated: "faint",
  SessionReused: "faint"
}

export const toneOf = ({ _tag }: PublicEvent): Tone => tones[_tag] ?? "plain"

/** What is said even where progress is not wanted: what needs a human, and what ends the work. */
const important: ReadonlySet<PublicEvent["_tag"]> = new Set([
  "EscalationRaised",
  "RunPaused",
  "RunCompleted",
  "RunFailed",
  "RunAborted",
  "SessionFailed",
  "SessionAborted",
  "WorkspaceRefused",
  "CommandRefused"
])

export const isImportant = ({ _tag }: PublicEvent): boolean => important.has(_tag)
