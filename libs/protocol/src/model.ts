/** The types that several messages share. Times are ISO 8601 UTC, durations milliseconds, cost US dollars. */
import { Effect, Schema } from "effect"
import { PhaseId, SessionId } from "./ids.ts"

export const Role = Schema.Literals(["author", "reviewer"])
export type Role = typeof Role.Type

export const BuiltInRuntime = Schema.Literals(["opencode", "claude"])
export type BuiltInRuntime = typeof BuiltInRuntime.Type

/** `acp:COMMAND`: an agent that speaks the Agent Client Protocol, by the command that starts it. */
export const RuntimeName = Schema.Union([BuiltInRuntime, Schema.TemplateLiteral(["acp:", Schema.String])])
export type RuntimeName = typeof RuntimeName.Type

/**
 * Where a host gets a run's code: a git server, and a branch, tag or commit there (absent: its default branch). The run
 * works on a branch of its own, which is pushed whenever a phase is finished.
 */
export const GitRemote = Schema.Struct({ url: Schema.NonEmptyString, ref: Schema.optionalKey(Schema.NonEmptyString) })
export type GitRemote = typeof GitRemote.Type

/** For people: an ISO time to the minute. */
export const minuteText = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`

export const Step = Schema.Literals([
  "PREPARE",
  "EXECUTE",
  "QUALITY_CHECK",
  "QUALITY_RETRY",
  "REVIEW",
  "AUTO_FIX",
  "CHECKPOINT",
  "ESCALATE",
  "PHASE_GATE",
  "PHASE_COMPLETE"
])
export type Step = typeof Step.Type

export const RunStatus = Schema.Literals(["running", "waiting", "paused", "completed", "failed", "aborted"])
export type RunStatus = typeof RunStatus.Type

export const Tokens = Schema.Struct({
  input: Schema.Finite,
  output: Schema.Finite,
  reasoning: Schema.Finite,
  cacheRead: Schema.Finite,
  cacheWrite: Schema.Finite
})
export type Tokens = typeof Tokens.Type
export const noTokens: Tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 }
export const addTokens = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  output: a.output + b.output,
  reasoning: a.reasoning + b.reasoning,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite
})

/** What was used since `b`, a part of `a`; never less than nothing. */
export const subtractTokens = (a: Tokens, b: Tokens): Tokens => ({
  input: Math.max(0, a.input - b.input),
  output: Math.max(0, a.output - b.output),
  reasoning: Math.max(0, a.reasoning - b.reasoning),
  cacheRead: Math.max(0, a.cacheRead - b.cacheRead),
  cacheWrite: Math.max(0, a.cacheWrite - b.cacheWrite)
})

/** What a token budget counts: everything but what the vendor's cache served. */
export const uncachedTokens = ({ cacheWrite, input, output, reasoning }: Tokens): number =>
  input + output + reasoning + cacheWrite

/** What agents used. Cost: US dollars. Calls: how often the model was called; 0 in messages that are older than the field. */
export const Usage = Schema.Struct({
  tokens: Tokens,
  cost: Schema.Finite,
  calls: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))
})
export type Usage = typeof Usage.Type
export const noUsage: Usage = { tokens: noTokens, cost: 0, calls: 0 }

export const addUsage = (a: Usage, b: Usage): Usage => ({
  tokens: addTokens(a.tokens, b.tokens),
  cost: a.cost + b.cost,
  calls: a.calls + b.calls
})

/** The larger of each count. */
export const maxUsage = (a: Usage, b: Usage): Usage => ({
  tokens: {
    input: Math.max(a.tokens.input, b.tokens.input),
    output: Math.max(a.tokens.output, b.tokens.output),
    reasoning: Math.max(a.tokens.reasoning, b.tokens.reasoning),
    cacheRead: Math.max(a.tokens.cacheRead, b.tokens.cacheRead),
    cacheWrite: Math.max(a.tokens.cacheWrite, b.tokens.cacheWrite)
  },
  cost: Math.max(a.cost, b.cost),
  calls: Math.max(a.calls, b.calls)
})

/** What was used since `b`, a part of `a`; never less than nothing. */
export const subtractUsage = (a: Usage, b: Usage): Usage => ({
  tokens: subtractTokens(a.tokens, b.tokens),
  cost: Math.max(0, a.cost - b.cost),
  calls: Math.max(0, a.calls - b.calls)
})

export const CheckpointType = Schema.Literals(["human-verify", "decision", "human-action", "architectural-change"])
export type CheckpointType = typeof CheckpointType.Type

export const CompletedTask = Schema.Struct({
  id: Schema.String,
  commit: Schema.String,
  files: Schema.Array(Schema.String)
})
export type CompletedTask = typeof CompletedTask.Type

const textOption = Schema.Struct({
  id: Schema.String,
  label: Schema.String,
  recommended: Schema.optionalKey(Schema.Boolean)
})

export const CheckpointReport = Schema.Struct({
  task: Schema.String,
  type: CheckpointType,
  description: Schema.String,
  options: Schema.optionalKey(Schema.Array(textOption)),
  verifySteps: Schema.optionalKey(Schema.Array(Schema.String)),
  requiredAction: Schema.optionalKey(Schema.String)
})
export type CheckpointReport = typeof CheckpointReport.Type

/** The author's report at the end of a turn (docs/design/run-machine.md). */
export const AuthorStatus = Schema.Struct({
  result: Schema.Literals(["complete", "needs_human", "failed", "checkpoint"]),
  commit: Schema.optionalKey(Schema.String),
  reason: Schema.optionalKey(Schema.String),
  notes: Schema.optionalKey(Schema.String),
  completedTasks: Schema.optionalKey(Schema.Array(CompletedTask)),
  checkpoint: Schema.optionalKey(CheckpointReport)
})
export type AuthorStatus = typeof AuthorStatus.Type

/** One finding of a verdict. A missing action counts as human_required (docs/design/run-machine.md). */
export const Item = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  action: Schema.Literals(["auto_fix", "human_required"]).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("human_required" as const))
  ),
  reason: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
  priority: Schema.Literals(["P0", "P1", "P2"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("P1" as const)))
})
export type Item = typeof Item.Type

/** The reviewer's report. */
export const Verdict = Schema.Struct({
  readiness: Schema.Literals(["ready", "ready_with_corrections", "not_ready"]),
  items: Schema.Array(Item),
  summary: Schema.optionalKey(Schema.String)
})
export type Verdict = typeof Verdict.Type

/** The reports of a run's turns. */
export const ReportKind = Schema.Literals(["author-status", "verdict"])
export type ReportKind = typeof ReportKind.Type

/** The report that an agent must give at the end of a turn: one of a run's, or an object by a JSON schema (2020-12). */
export const ReportForm = Schema.Union([ReportKind, Schema.JsonObject])
export type ReportForm = typeof ReportForm.Type

export const PermissionMode = Schema.Literals(["ask", "workspace", "all"])
export type PermissionMode = typeof PermissionMode.Type

/** Milliseconds; a limit that is absent is off. */
export const TurnLimits = Schema.Struct({
  inactivityMs: Schema.optionalKey(Schema.Finite),
  wallMs: Schema.optionalKey(Schema.Finite),
  /** What is left of a budget: tokens, those from the vendor's cache not counted, and US dollars. */
  maxTokens: Schema.optionalKey(Schema.Finite),
  maxCost: Schema.optionalKey(Schema.Finite),
  /** Tokens that one turn may use, counted in the same way. */
  maxTurnTokens: Schema.optionalKey(Schema.Finite),
  /** Calls of the model. */
  maxCalls: Schema.optionalKey(Schema.Finite),
  maxAgentTurns: Schema.optionalKey(Schema.Finite),
  /** Waits for a rate limit, credit or the network, in total; absent: the session-manager's own limit. */
  maxWaitMs: Schema.optionalKey(Schema.Finite)
})
export type TurnLimits = typeof TurnLimits.Type

/** What the sandbox refuses to a command: to reach a name, or to write a file. */
export const RefusedBySandbox = Schema.Literals(["network", "write"])
export type RefusedBySandbox = typeof RefusedBySandbox.Type

export const GateResult = Schema.Struct({
  command: Schema.String,
  /** null when the command could not start or took too long; 128 and the signal's number when a signal ended it. */
  exitCode: Schema.NullOr(Schema.Finite),
  durationMs: Schema.Finite,
  timedOut: Schema.Boolean,
  /** Path of the full log, relative to the directory that holds `.reprise`. */
  logRef: Schema.String,
  /** First and last 2 KB of the output, both streams in the order they were written; each is the whole of a short output. */
  head: Schema.String,
  tail: Schema.String,
  /** How many characters the end of `head` and the start of `tail` share; absent: output between them is left out. */
  overlap: Schema.optionalKey(Schema.Int),
  /** What the sandbox refused to it, each wish once; absent: nothing. */
  refused: Schema.optionalKey(Schema.Array(Schema.Struct({ sandbox: RefusedBySandbox, text: Schema.String })))
})
export type GateResult = typeof GateResult.Type

/** The output of a quality gate, with nothing repeated; `gap` stands for the part that is left out. */
export const gateOutput = ({ head, overlap, tail }: GateResult, gap = "\n[…]\n"): string => {
  if (tail === "" || tail === head) return head
  return overlap === undefined ? `${head}${gap}${tail}` : `${head}${tail.slice(overlap)}`
}

/** How full a conversation is: tokens of its model's newest call, and the model's context window if known. */
export const ContextFill = Schema.Struct({ tokens: Schema.Finite, limit: Schema.optionalKey(Schema.Finite) })
export type ContextFill = typeof ContextFill.Type

/** Whether an author continues its session or a fresh author takes over from the record, why, and what was measured. */
export const SessionDecision = Schema.Struct({
  choice: Schema.Literals(["continue", "fresh"]),
  why: Schema.String,
  /** Part of the model's context window, from 0 to 1. */
  contextFill: Schema.optionalKey(Schema.Finite),
  contextTokens: Schema.optionalKey(Schema.Finite),
  ageMs: Schema.optionalKey(Schema.Finite),
  failedContinuations: Schema.optionalKey(Schema.Int)
})
export type SessionDecision = typeof SessionDecision.Type

/** Why a state file had to be written again from the journal: how it differs from the one written last. */
export const StateFileProblem = Schema.Struct({
  code: Schema.Literals(["lost", "edited", "truncated", "corrupt", "invalid", "another-plan", "newer-version"]),
  detail: Schema.String
})
export type StateFileProblem = typeof StateFileProblem.Type

/** A commit by its whole hash, with the first line of its message. */
export const CommitSubject = Schema.Struct({ commit: Schema.String, subject: Schema.String })
export type CommitSubject = typeof CommitSubject.Type

export const EscalationOrigin = Schema.Literals([
  "author",
  "reviewer",
  "quality",
  "commit",
  "limit",
  "plan",
  "runtime",
  "checkpoint",
  "continuation",
  "permission",
  "question",
  "phase-gate",
  "workspace"
])
export type EscalationOrigin = typeof EscalationOrigin.Type

/** Why a question needs no answer any more. */
export const WithdrawalReason = Schema.Literals(["agent-working", "superseded", "run-ended"])
export type WithdrawalReason = typeof WithdrawalReason.Type

/** One choice of a question; `guidance` says whether free text may come with it. */
export const EscalationOption = Schema.Struct({
  name: Schema.String,
  label: Schema.String,
  /** Short keys accepted for the same choice, such as `c`. */
  keys: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  guidance: Schema.Literals(["none", "optional", "required"]).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("none" as const))
  ),
  /** The answer may name the runtime and the model of the agent that takes over. */
  agent: Schema.optionalKey(Schema.Boolean)
})
export type EscalationOption = typeof EscalationOption.Type

/** Who said something for an agent of a run. `checks`: the commands that verify a checkpoint, by their output. */
export const Speaker = Schema.Literals(["human", "author", "checks"])
export type Speaker = typeof Speaker.Type

/** The answer at a checkpoint. Words end with their phase, decisions are read until the run ends. */
export const Decision = Schema.Struct({
  task: Schema.String,
  type: CheckpointType,
  question: Schema.String,
  /** The choice, and its label. */
  answer: Schema.String,
  at: Schema.String
})
export type Decision = typeof Decision.Type

/** Words of the run's ledger: what somebody said for the author, the reviewer, or both. */
export const Words = Schema.Struct({
  from: Speaker,
  /** The human, as the gate knows them. */
  by: Schema.optionalKey(Schema.String),
  for: Schema.Literals([...Role.literals, "both"]),
  /** Absent: they were said after a phase was approved, and are for the next one. */
  phase: Schema.optionalKey(PhaseId),
  /** What they answer, where that is not the step itself. */
  about: Schema.optionalKey(Schema.String),
  /** What was decided. `text` is empty when nothing was said with it. */
  decision: Schema.optionalKey(Decision),
  text: Schema.String
})
export type Words = typeof Words.Type

/** What a human sees with a question, besides the reason. */
export const Evidence = Schema.Struct({
  planPath: Schema.optionalKey(Schema.String),
  planTitle: Schema.optionalKey(Schema.String),
  phaseTitle: Schema.optionalKey(Schema.String),
  attempt: Schema.optionalKey(Schema.Finite),
  /** The last lines of the agent that asks. */
  lastLines: Schema.optionalKey(Schema.String),
  /** The commit on which the phase began; the commits since are its work so far. */
  base: Schema.optionalKey(Schema.String),
  commit: Schema.optionalKey(Schema.String),
  diffStat: Schema.optionalKey(Schema.String),
  gateResults: Schema.optionalKey(Schema.Array(GateResult)),
  tokens: Schema.optionalKey(Tokens),
  cost: Schema.optionalKey(Schema.Finite),
  /** The open session of the agent that asks, if the question cannot continue it. */
  sessionId: Schema.optionalKey(SessionId),
  /** The author's open session, where another asks. */
  authorSessionId: Schema.optionalKey(SessionId),
  /** When the agent that asks became idle, ISO 8601. Absent: unknown, or the agent waits within its turn. */
  idleSince: Schema.optionalKey(Schema.String),
  /** How full the context of the agent that asks was when its runtime last reported it. */
  context: Schema.optionalKey(ContextFill),
  /** Why continue-session is not among the options. */
  continueUnavailable: Schema.optionalKey(Schema.String),
  missingCommits: Schema.optionalKey(Schema.Array(Schema.String)),
  missingFiles: Schema.optionalKey(Schema.Array(Schema.String)),
  dirty: Schema.optionalKey(Schema.Array(Schema.String)),
  checkpoint: Schema.optionalKey(CheckpointReport),
  promptId: Schema.optionalKey(Schema.String),
  /** What was said for an agent and will be in its next prompt. */
  willBeTold: Schema.optionalKey(Schema.Array(Schema.Struct({ role: Role, text: Schema.String })))
})
export type Evidence = typeof Evidence.Type

/** A user's texts in place of the session-manager's own templates, by their names. */
export const SessionPrompts = Schema.Struct({
  "report-with-work": Schema.optionalKey(Schema.String),
  report: Schema.optionalKey(Schema.String),
  "report-unreadable": Schema.optionalKey(Schema.String),
  "uncommitted-changes": Schema.optionalKey(Schema.String)
})
export type SessionPrompts = typeof SessionPrompts.Type

const decodeSessionPrompts = Schema.decodeUnknownSync(SessionPrompts)

/** The prompts of a run that belong to the session-manager, as a command's field `prompts`; no field when it has none. */
export const sessionPrompts = (prompts: Readonly<Record<string, string>>): { readonly prompts?: SessionPrompts } => {
  const own = decodeSessionPrompts(prompts)
  return Object.keys(own).length === 0 ? {} : { prompts: own }
}
