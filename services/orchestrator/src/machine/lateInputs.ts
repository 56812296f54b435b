/** What inputs lead to that come after the end of a run. */
import { type Refusal, refusing } from "@reprise/actor"
import { Result } from "effect"
import { countOthers, countTurn } from "../limits/usage.ts"
import { isEnding, releaseWorkspace } from "../run/end.ts"
import type { InputOf, RunInput } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import type { Run } from "../run/state.ts"

const refuse = refusing("orchestrator")

type Late<Tag extends RunInput["_tag"]> = "ignored" | "stale" | ((input: InputOf<Tag>) => "ignored" | "stale")

/** These are answered by what was started, also after its end. */
type Start = "StartRun" | "StartStandaloneRun"

export type LateInputs = { readonly [Tag in Exclude<RunInput["_tag"], Start>]: Late<Tag> }

/**
 * Inputs after the end move nothing; what they used is counted. `ignored`: an echo of what the end itself brought about.
 * `stale`: refused, so that its sender learns that it came too late
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
export const lateInputs: LateInputs = {
  AnswerReceived: "stale",
  PauseRun: "stale",
  ChangeModel: "stale",
  ResumeRun: "stale",
  MoveRun: "stale",
  AbortRun: "stale",
  ReportStuck: "ignored",
  WorkspacePrepared: "stale",
  WorkspaceRefused: "stale",
  WorkspaceFailed: "stale",
  QualityPassed: "stale",
  QualityFailed: "stale",
  CommitVerified: "stale",
  CommitRejected: "stale",
  ClaimsVerified: "stale",
  ClaimsRejected: "stale",
  PhaseFinished: "stale",
  PhaseBlocked: "stale",
  ContinuationVerified: "stale",
  ContinuationRejected: "stale",
  ContinuationStateWritten: "stale",
  SummaryWritten: "stale",
  TurnCompleted: "stale",
  TurnFailed: ({ kind }) => (kind === "aborted" ? "ignored" : "stale"),
  VerdictReached: "stale",
  ReviewFailed: "stale",
  AgentWorking: ({ cause }) => (cause === "turn" ? "ignored" : "stale"),
  AgentIdle: "ignored",
  AgentPrompting: "stale",
  AgentGone: "ignored",
  SessionCreated: "ignored",
  SessionReused: "ignored",
  SessionReplaced: "ignored",
  SessionExpired: "ignored",
  SessionCompleted: "ignored",
  SessionAborted: "ignored",
  SessionFailed: "ignored",
  SessionArchived: "ignored",
  PermissionRefused: "ignored",
  UsageCounted: "ignored",
  EscalationWithdrawn: "ignored",
  CommandRefused: "ignored"
}

type LateInput = Exclude<RunInput, { readonly _tag: Start }>

const lateOf = <Tag extends LateInput["_tag"]>(tag: Tag, input: InputOf<Tag>): "ignored" | "stale" => {
  const entry: Late<Tag> = lateInputs[tag]
  return typeof entry === "function" ? entry(input) : entry
}

const usedBy = (run: Run, input: LateInput): RunEvents => {
  if (input._tag === "UsageCounted") return countOthers(input)
  return input._tag === "TurnCompleted" || input._tag === "TurnFailed" ? countTurn(run, input) : []
}

/** What somebody asked for; what services report too late is read by those who know them. */
const lateWords: Partial<Record<LateInput["_tag"], string>> = {
  AbortRun: "there is nothing to abort",
  PauseRun: "there is nothing to pause",
  ResumeRun: "it cannot be resumed; a new run begins with 'reprise run'",
  ChangeModel: "its model cannot be changed",
  MoveRun: "there is nothing to move"
}

const lateReason = ({ runId, status }: Run, command: LateInput["_tag"]): string => {
  const words = lateWords[command]
  return words === undefined
    ? `${command} is stale: run ${runId} is ${status}.`
    : `Run ${runId} ${status === "aborted" ? "was" : "has"} already ${status}: ${words}.`
}

/** The run was released before its workspace was asked for: messages to one actor may pass each other. */
const undo = (run: Run, input: LateInput): RunEvents =>
  input._tag === "WorkspacePrepared" && isEnding(run.status) ? [releaseWorkspace(run, run.status)] : []

/** What an input that comes after the end gets. */
export const decideEnded = (run: Run, input: LateInput): Result.Result<RunEvents, Refusal> => {
  const used = usedBy(run, input)
  if (lateOf(input._tag, input) === "ignored") return Result.succeed(used)
  const { _tag: command, runId } = input
  const reason = lateReason(run, command)
  const events = [...used, ...undo(run, input)]
  // A refused input would leave nothing in the journal.
  return events.length === 0
    ? refuse("ended", reason)
    : Result.succeed([...events, { _tag: "CommandRefused", runId, command, code: "ended", reason }])
}
