/** Inputs that may come next: what answers the run, and what any network may do. */
import { type AuthorStatus, type Item, noTokens, turnIdOf } from "@reprise/protocol"
import type { InputOf, RunInput } from "../../src/actor/inputs.ts"
import { underWay } from "../../src/actor/state.ts"
import { failedGate, head, item, onePhase, runId, type Story, startRun } from "./story.ts"

const hash = (n: number) => (0xabc0000 + n).toString(16)

/** An author usually completes its work, so that stories reach their reviews. */
const statuses = (n: number): ReadonlyArray<AuthorStatus> => [
  ...Array.from({ length: 6 }, (): AuthorStatus => ({ result: "complete", commit: hash(n) })),
  { result: "complete", commit: hash(n) },
  { result: "complete", commit: hash(n), completedTasks: [{ id: "P1.1", commit: hash(n), files: ["a.ts"] }] },
  { result: "complete" },
  { result: "needs_human", reason: "stuck" },
  { result: "failed", reason: "no" },
  { result: "needs_human" },
  { result: "checkpoint", checkpoint: { task: "P1.1", type: "decision", description: "?", options: [] } },
  { result: "checkpoint", checkpoint: { task: "P1.2", type: "human-action", description: "?" } },
  { result: "checkpoint", checkpoint: { task: "P1.1", type: "human-action", description: "?" } },
  {
    result: "checkpoint",
    completedTasks: [{ id: "P1.1", commit: hash(n), files: ["a.ts"] }],
    checkpoint: { task: "X9", type: "decision", description: "?", options: [{ id: "a:b", label: "A" }] }
  },
  { result: "checkpoint", commit: hash(n), checkpoint: { task: "P1.2", type: "human-verify", description: "?" } }
]

const itemLists: ReadonlyArray<ReadonlyArray<Item>> = [
  [],
  [item("R1")],
  [item("R1"), item("R2")],
  [item("R1", "human_required")]
]

const withoutStatus = ({ status: _, ...event }: InputOf<"TurnCompleted">): RunInput => event

const turnInputs = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...(s.pending("Turn").interrupted ? Array.from({ length: 12 }, () => s.turnFailure("aborted")) : []),
  ...statuses(n).map((status) => s.turnReport(status)),
  withoutStatus(s.turnReport({ result: "complete" })),
  ...(["timeout", "runtime", "aborted", "rate_limited"] as const).map((kind) => s.turnFailure(kind, n % 2 === 0)),
  { _tag: "CommandRefused", runId, command: "StartTurn", reason: "busy" }
]

const workspaceInputs = (s: Story): ReadonlyArray<RunInput> => {
  const { command } = s.pending("Workspace")
  const place = "phase" in command ? { runId, phase: command.phase } : undefined
  const broken: RunInput = { _tag: "WorkspaceFailed", runId, operation: command._tag, reason: "disk full" }
  if (command._tag === "PrepareWorkspace") {
    const { host } = command
    return [{ _tag: "WorkspacePrepared", runId, host, directory: "/repo", head, branch: "main" }]
  }
  if (command._tag === "WriteSummary") {
    const { path, phase } = command
    return [{ _tag: "SummaryWritten", runId, ...(phase === undefined ? {} : { phase }), path }, broken]
  }
  if (place === undefined) return []
  switch (command._tag) {
    case "RunQualityGates": {
      const { attempt, checkpoint } = command
      const of = { ...place, attempt, ...(checkpoint === undefined ? {} : { checkpoint }) }
      return [
        { _tag: "QualityPassed", ...of, results: [] },
        { _tag: "QualityFailed", ...of, results: [failedGate] },
        broken
      ]
    }
    case "VerifyCommit": {
      const { commit } = command
      const verified: RunInput = { _tag: "CommitVerified", ...place, commit }
      return [
        verified,
        verified,
        { _tag: "CommitRejected", ...place, commit, reason: "missing", detail: "gone" },
        { _tag: "CommitRejected", ...place, commit, reason: "not-new", detail: "rewritten", base: hash(97) }
      ]
    }
    case "VerifyClaims": {
      const { commit = hash(96), tasks } = command
      const held: RunInput = { _tag: "ClaimsVerified", ...place, tasks }
      return [held, held, held, { _tag: "ClaimsRejected", ...place, commit, reason: "missing", detail: "gone" }]
    }
    case "FinishPhase": {
      const { source } = s.run
      return [
        { _tag: "PhaseFinished", ...place, head: hash(99), plan: source },
        { _tag: "PhaseFinished", ...place, head: hash(99), plan: source },
        { _tag: "PhaseFinished", ...place, head: hash(99), plan: onePhase.replace("Phase 1", "Phase 9") },
        { _tag: "PhaseBlocked", ...place, dirty: ["x"] },
        { _tag: "PhaseBlocked", ...place, dirty: [], head: "abcdef0" }
      ]
    }
    case "VerifyContinuation": {
      const { completedTasks, verified } = command
      const gone = [
        ...completedTasks.slice(0, 1).map((task) => task.commit),
        ...(verified === undefined ? [] : [verified])
      ]
      return [
        { _tag: "ContinuationVerified", ...place },
        { _tag: "ContinuationVerified", ...place, base: hash(98) },
        { _tag: "ContinuationRejected", ...place, missingCommits: ["abc1"], missingFiles: [] },
        { _tag: "ContinuationRejected", ...place, missingCommits: gone, missingFiles: [], base: hash(98) },
        { _tag: "ContinuationRejected", ...place, missingCommits: [], missingFiles: ["a.ts"] }
      ]
    }
    default:
      return [{ _tag: "ContinuationStateWritten", ...place, path: "state.file" }, broken]
  }
}

const reviewInputs = (s: Story): ReadonlyArray<RunInput> => [
  ...(["ready", "ready", "not_ready"] as const).flatMap((readiness) =>
    itemLists.map((items) => s.verdictEvent({ readiness, items }))
  ),
  { ...s.verdictEvent({ readiness: "ready", items: [] }), commit: "fffffff" },
  { _tag: "ReviewFailed", runId, phase: s.phase.id, reason: "x", kind: "runtime", cycle: s.pending("Review").cycle }
]

/** Humans never say the same twice here, so that their words can be told apart. */
const answers = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...s.choices
    .filter((choice) => choice !== "abort" || n % 7 === 0)
    .map((choice) => s.answerOf(n % 3 === 0 ? { choice } : { choice, guidance: `guidance ${s.journal.length}.` })),
  s.answerOf({ choice: "nonsense", guidance: `lost? ${s.journal.length}.` })
]

/** What the session-manager may see of the author's session at any time. */
const seen = (s: Story): ReadonlyArray<RunInput> => {
  const sessionId = s.run.phase?.author?.sessionId
  if (sessionId === undefined) return []
  const at = { runId, sessionId }
  const options = [{ name: "once", label: "once" }]
  return [
    { _tag: "AgentWorking", ...at, cause: "human", evidence: "x" },
    { _tag: "AgentWorking", ...at, cause: "turn", evidence: "x" },
    { _tag: "AgentIdle", ...at },
    { _tag: "AgentGone", ...at },
    { _tag: "AgentPrompting", ...at, promptId: "p1", kind: "permission", text: "?", options },
    { _tag: "AgentPrompting", ...at, promptId: "p2", kind: "question", text: "?", options },
    { _tag: "UsageCounted", ...at, role: "author", tokens: { ...noTokens, input: 7 }, cost: 0.25, calls: 1 },
    { _tag: "SessionExpired", ...at }
  ]
}

/** What the watch over runs may report, of the run as it is or as it was. */
const watched = (s: Story): ReadonlyArray<RunInput> => [
  ...(["usable", "doubtful", "ended"] as const).map((session) => s.stuckReport({ session })),
  s.stuckReport({ updatedAt: s.run.startedAt })
]

/** Inputs that answer what the run waits for, or report something that was seen instead. */
export const fitting = (s: Story, n: number): ReadonlyArray<RunInput> => {
  if (s.state._tag === "NoRun") return [startRun()]
  const { pending } = s.run
  const below = underWay(pending)
  return [
    ...(s.run.status === "paused" ? [{ _tag: "ResumeRun" as const, runId }] : []),
    ...(pending._tag === "Answer" ? answers(s, n) : []),
    ...(below._tag === "Turn" ? turnInputs(s, n) : []),
    ...(below._tag === "Workspace" ? workspaceInputs(s) : []),
    ...(below._tag === "Review" ? reviewInputs(s) : []),
    ...(below._tag === "Agent" ? [{ _tag: "AgentIdle" as const, runId, sessionId: below.sessionId }] : [])
  ]
}

/** Humans, operators and the network: at any time, wanted or not. */
export const anytime = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...(s.state._tag === "NoRun" ? [] : [...seen(s), ...watched(s)]),
  { _tag: "PauseRun", runId, now: true },
  { _tag: "PauseRun", runId, now: false },
  { _tag: "ResumeRun", runId },
  { _tag: "ResumeRun", runId },
  startRun({ auto: true }),
  { _tag: "CommitVerified", runId, phase: "1", commit: hash(7) },
  { _tag: "QualityPassed", runId, phase: "1", attempt: 1, results: [] },
  {
    _tag: "TurnCompleted",
    runId,
    sessionId: `${runId}-s1` as never,
    turnId: turnIdOf(runId, 1),
    report: "author-status",
    status: { result: "complete", commit: hash(1) },
    tokens: noTokens,
    cost: 0,
    calls: 0,
    duration: 0,
    attempts: 1
  },
  ...(n % 40 === 0 ? [{ _tag: "AbortRun" as const, runId, reason: "enough" }] : [])
]
