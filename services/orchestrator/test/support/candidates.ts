/** Inputs that may come next: what answers the run, and what any network may do. */
import {
  type AuthorStatus,
  Host,
  type Item,
  noTokens,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  type SessionId,
  sessionIdOf,
  turnIdOf
} from "@reprise/protocol"
import type { SessionEnd } from "../../src/author/session.ts"
import type { InputOf, RunInput } from "../../src/run/inputs.ts"
import { underWay } from "../../src/run/state.ts"
import { failedGate, head, item, onePhase, runId, startRun } from "./samples.ts"
import type { Story } from "./story.ts"

const hash = (n: number) => (0xabc0000 + n).toString(16)

/** An author usually completes its work, so that stories reach their reviews. */
const statuses = (n: number, notes: string): ReadonlyArray<AuthorStatus> => [
  { result: "complete", commit: hash(n), notes },
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

/** What a turn used that ended early, so that no two sums are the same. */
const spent = (n: number) => ({ tokens: { ...noTokens, input: n, reasoning: 3 }, cost: 0.125, calls: 2 })

const turnInputs = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...(s.pending("Turn").interrupted
    ? Array.from({ length: 12 }, (_, i) => ({ ...s.turnFailure("aborted", i % 2 === 0), promptGiven: i % 3 === 0 }))
    : []),
  ...statuses(n, `notes ${s.journal.length}.`).map((status) => s.turnReport(status)),
  withoutStatus(s.turnReport({ result: "complete" })),
  ...(["timeout", "runtime", "aborted", "rate_limited", "session-missing"] as const).map((kind) => ({
    ...s.turnFailure(kind, n % 2 === 0),
    ...spent(n),
    promptGiven: n % 3 === 0
  })),
  { _tag: "CommandRefused", runId, command: "StartTurn", turnId: s.pending("Turn").turnId, reason: "busy" }
]

/** What the workspace may report about the command that the run waits for. */
export const workspaceInputs = (s: Story): ReadonlyArray<RunInput> => {
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
        { _tag: "PhaseFinished", ...place, head: hash(99), plan: source, pushed: "reprise/plan", drained: true },
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
    itemLists.map((items) => ({
      ...s.verdictEvent({ readiness, items }),
      sessionId: reviewerSessionIdOf(runId, s.phase.id, 1)
    }))
  ),
  { ...s.verdictEvent({ readiness: "ready", items: [] }), commit: "fffffff" },
  ...(["runtime", "rate_limited"] as const).map((kind) => ({
    ...{ _tag: "ReviewFailed" as const, runId, phase: s.phase.id, reason: "x", kind },
    cycle: s.pending("Review").cycle
  })),
  { _tag: "CommandRefused", runId, command: "RequestReview", reason: "busy" }
]

/** Humans never say the same twice here, so that their words can be told apart. */
const answers = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...s.choices
    .filter((choice) => choice !== "abort" || n % 7 === 0)
    .map((choice) => s.answerOf(n % 3 === 0 ? { choice } : { choice, guidance: `guidance ${s.journal.length}.` })),
  s.answerOf({ choice: "nonsense", guidance: `lost? ${s.journal.length}.` }),
  ...(n % 11 === 0 ? closedByGate(s) : [])
]

/** The gate has withdrawn the question itself, or refused it. */
const closedByGate = (s: Story): ReadonlyArray<RunInput> => {
  const { escalationId } = s.question.ask
  return [
    { _tag: "EscalationWithdrawn", runId, escalationId, reason: "superseded" },
    { _tag: "CommandRefused", runId, command: "RaiseEscalation", escalationId, reason: "no" }
  ]
}

/** Answers to the question that the run withdrew last: the gate had recorded them. */
const lateAnswers = (s: Story): ReadonlyArray<RunInput> => {
  const escalationId = s.run.withdrawn.at(-1)
  if (escalationId === undefined) return []
  const late = { _tag: "AnswerReceived", runId, escalationId, by: "anna", via: "cli" } as const
  return ["continue-session", "fix", "abort"].map((choice) => ({
    ...late,
    choice,
    guidance: `late ${s.journal.length} ${choice}.`
  }))
}

/** The sessions of the run's authors, and of the phase's reviewer. */
const sessionsOf = ({ run }: Story): ReadonlyArray<SessionId> => [
  ...Array.from({ length: run.ids.sessions }, (_, n) => sessionIdOf(run.runId, n + 1)),
  ...(run.phase === undefined ? [] : [reviewerSessionIdOf(run.runId, run.phase.id, 1)])
]

export const sessionEnds = [
  "SessionExpired",
  "SessionCompleted",
  "SessionAborted",
  "SessionFailed",
  "SessionArchived"
] as const satisfies ReadonlyArray<SessionEnd["_tag"]>

/** Every way in which the session can end. */
const endsOf = (sessionId: SessionId): ReadonlyArray<SessionEnd> =>
  sessionEnds.map((_tag) => {
    const at = { runId, sessionId }
    return _tag === "SessionAborted" || _tag === "SessionFailed" ? { _tag, ...at, reason: "x" } : { _tag, ...at }
  })

/** What becomes of the session of the newest author, and of any other of the run, at any time. */
export const presence = (s: Story, n: number): ReadonlyArray<RunInput> => {
  if (s.state._tag === "NoRun") return []
  const sessions = sessionsOf(s)
  const newest = s.run.phase?.author?.sessionId
  const sessionId = n % 3 === 0 ? sessions[n % Math.max(sessions.length, 1)] : newest
  if (sessionId === undefined) return []
  const at = { runId, sessionId }
  const role = sessionId.includes("-p") ? ("reviewer" as const) : ("author" as const)
  const phase = s.run.phase === undefined ? {} : { phase: s.run.phase.id }
  const prompt = { _tag: "AgentPrompting", ...at, text: "?" } as const
  const own = ["once", "always", "reject"].map((name) => ({ name, label: name }))
  const permission = { ...prompt, promptId: `p${n % 5}`, kind: "permission" as const, options: own }
  return [
    permission,
    permission,
    { _tag: "AgentWorking", ...at, cause: "human", evidence: "x" },
    { _tag: "AgentWorking", ...at, cause: "human", evidence: "y" },
    { _tag: "AgentWorking", ...at, cause: "agent", evidence: "x" },
    { _tag: "AgentWorking", ...at, cause: "turn", evidence: "x" },
    { _tag: "AgentIdle", ...at },
    { _tag: "AgentIdle", ...at },
    { _tag: "AgentGone", ...at },
    permission,
    { ...prompt, promptId: `q${n % 5}`, kind: "question", options: own.slice(0, 1) },
    { _tag: "UsageCounted", ...at, ...phase, role, tokens: { ...noTokens, input: 7 }, cost: 0.25, calls: 1 },
    ...endsOf(sessionId)
  ]
}

/** A reviewer's turn that ended in any way. */
const reviewerTurns = (s: Story, n: number): ReadonlyArray<RunInput> => {
  const phase = s.run.phase?.id
  if (phase === undefined) return []
  const turn = {
    runId,
    phase,
    sessionId: reviewerSessionIdOf(runId, phase, 1),
    turnId: reviewerTurnIdOf(runId, phase, (n % 4) + 1),
    role: "reviewer" as const,
    duration: 1,
    attempts: 1,
    ...spent(n)
  }
  return [
    { _tag: "TurnCompleted", ...turn, report: "verdict" },
    { _tag: "TurnFailed", ...turn, kind: "timeout", message: "slow", sessionUsable: false }
  ]
}

/** What the watch over runs may report, of the run as it is or as it was. */
const watched = (s: Story): ReadonlyArray<RunInput> => [
  ...(["usable", "doubtful", "ended"] as const).map((session) => s.stuckReport({ session })),
  s.stuckReport({ updatedAt: s.run.startedAt })
]

/** A human steps in where a question names the session, or pauses the run. */
const agentAtWork = (sessionId: SessionId): ReadonlyArray<RunInput> => [
  { _tag: "AgentWorking", runId, sessionId, cause: "human", evidence: "x" },
  { _tag: "PauseRun", runId, now: false }
]

const rejection = (s: Story): ReadonlyArray<RunInput> =>
  s.choices.includes("reject") && s.run.status === "waiting"
    ? [s.answerOf({ choice: "reject", guidance: `guidance ${s.journal.length}.` })]
    : []

/** What becomes of an agent that works by itself. */
const agentInputs = (sessionId: SessionId, n: number): ReadonlyArray<RunInput> => [
  { _tag: "AgentIdle", runId, sessionId },
  { _tag: "AgentIdle", runId, sessionId },
  { _tag: "PauseRun", runId, now: n % 2 === 0 },
  ...endsOf(sessionId)
]

const closers: ReadonlyArray<RunInput["_tag"]> = ["AnswerReceived", "EscalationWithdrawn", "CommandRefused"]

/** Inputs that answer what the run waits for, or report something that was seen instead. */
export const fitting = (s: Story, n: number): ReadonlyArray<RunInput> => {
  if (s.state._tag === "NoRun") return [startRun()]
  const { pending } = s.run
  const below = underWay(pending)
  return [
    ...(s.run.status === "paused" ? [{ _tag: "ResumeRun" as const, runId }] : []),
    // The gate closes each question once.
    ...(pending._tag === "Answer" && !closers.some((tag) => tag === s.run.held?._tag)
      ? // As often as what ends the work under the question of an agent.
        Array.from({ length: below._tag === "Nothing" ? 1 : 4 }, () => answers(s, n)).flat()
      : []),
    ...(below._tag === "Turn" ? turnInputs(s, n) : []),
    ...(below._tag === "Workspace" ? workspaceInputs(s) : []),
    ...(below._tag === "Review" ? reviewInputs(s) : []),
    ...(below._tag === "Agent" ? agentInputs(below.sessionId, n) : []),
    ...(pending._tag === "Answer" && pending.question.ask.sessionId !== undefined
      ? [...agentAtWork(pending.question.ask.sessionId), ...rejection(s)]
      : [])
  ]
}

/** The end of the run's first turn, whenever it comes. */
const firstTurn = ({ run }: Story): ReadonlyArray<RunInput> =>
  run.ids.turns === 0
    ? []
    : [
        {
          _tag: "TurnCompleted",
          runId,
          sessionId: sessionIdOf(runId, 1),
          turnId: turnIdOf(runId, 1),
          report: "author-status",
          status: { result: "complete", commit: hash(1) },
          ...spent(1),
          duration: 0,
          attempts: 1
        }
      ]

/** Humans, operators and the network: at any time, wanted or not. */
export const anytime = (s: Story, n: number): ReadonlyArray<RunInput> => [
  ...(s.state._tag === "NoRun"
    ? []
    : [
        ...presence(s, n),
        ...watched(s),
        ...lateAnswers(s),
        ...lateAnswers(s),
        ...reviewerTurns(s, n),
        ...firstTurn(s)
      ]),
  { _tag: "PauseRun", runId, now: true },
  { _tag: "PauseRun", runId, now: false },
  { _tag: "ResumeRun", runId },
  { _tag: "ResumeRun", runId },
  { _tag: "ChangeModel", runId, role: n % 2 === 0 ? "author" : "reviewer", model: `model/${n % 3}` },
  { _tag: "MoveRun", runId, from: Host.make("host1") },
  startRun({ auto: true }),
  { _tag: "CommitVerified", runId, phase: "1", commit: hash(7) },
  { _tag: "QualityPassed", runId, phase: "1", attempt: 1, results: [] },
  ...(n % 40 === 0 ? [{ _tag: "AbortRun" as const, runId, reason: "enough" }] : [])
]
