import { addTokens, type CommitSubject, noTokens, type PhaseId } from "@reprise/protocol"
import { spentCost, spentTokens } from "../control/usage.ts"
import { evolvePhase, newPhase } from "../phase/evolve.ts"
import type { EventOf, RunEvent } from "./journal.ts"
import type { Pending, PhaseUsage, Run, RunState, Saving, Usage } from "./state.ts"
import { breakable } from "./transitions.ts"

const unused: Usage = { tokens: noTokens, cost: 0, turns: 0 }

/** A view shows the newest notices; the journal keeps them all. */
const maxNotices = 200

const requested = ({ at, phases, planId, planTitle, request }: EventOf<"RunRequested">): Run => ({
  _tag: "Run",
  runId: request.runId,
  request,
  status: "running",
  planId,
  planTitle,
  source: request.plan,
  phases,
  outcomes: [],
  pending: { _tag: "Nothing" },
  pauseAsked: false,
  prompts: [],
  guidance: { texts: [], author: 0, reviewer: 0 },
  ids: { sessions: 0, turns: 0, escalations: 0 },
  steps: 0,
  granted: { steps: 0, tokens: 0, cost: 0 },
  usage: { author: unused, reviewer: unused },
  phaseUsage: [],
  counted: [],
  savings: [],
  reusing: [],
  subjects: [],
  sessionsCreated: 0,
  sessionsReused: 0,
  notices: [],
  startedAt: at,
  updatedAt: at
})

/** Every phase and role has one entry. */
const phaseUsage = (run: Run, { cost, phase, role, tokens }: EventOf<"TurnCounted">): Run["phaseUsage"] => {
  if (phase === undefined) return run.phaseUsage
  const isIt = (entry: PhaseUsage) => entry.phase === phase && entry.role === role
  const before = run.phaseUsage.find(isIt) ?? { tokens: noTokens, cost: 0 }
  const after = { phase, role, tokens: addTokens(before.tokens, tokens), cost: before.cost + cost }
  return [...run.phaseUsage.filter((entry) => !isIt(entry)), after]
}

const counted = (run: Run, event: EventOf<"TurnCounted">): Run => {
  const { cost, role, tokens, turnId } = event
  const before = run.usage[role]
  const after = { tokens: addTokens(before.tokens, tokens), cost: before.cost + cost, turns: before.turns + 1 }
  return {
    ...run,
    usage: { ...run.usage, [role]: after },
    phaseUsage: phaseUsage(run, event),
    counted: [...run.counted, turnId],
    reusing: run.reusing.filter((turn) => turn !== turnId),
    savings: run.reusing.includes(turnId)
      ? saved(run, event.phase, { continuedTurns: 1, cachedTokens: tokens.cacheRead, unsentTokens: 0 })
      : run.savings
  }
}

/** Every phase has one entry. */
const saved = (run: Run, phase: PhaseId | undefined, more: Omit<Saving, "phase">): Run["savings"] => {
  if (phase === undefined) return run.savings
  const before = run.savings.find((entry) => entry.phase === phase)
  const after: Saving = {
    phase,
    continuedTurns: (before?.continuedTurns ?? 0) + more.continuedTurns,
    cachedTokens: (before?.cachedTokens ?? 0) + more.cachedTokens,
    unsentTokens: (before?.unsentTokens ?? 0) + more.unsentTokens
  }
  return [...run.savings.filter((entry) => entry.phase !== phase), after]
}

/** A fresh author is not sent the conversation that its predecessor had. */
const handedOver = (run: Run): Run => {
  const unsentTokens = run.phase?.author?.context?.tokens ?? 0
  return unsentTokens === 0
    ? run
    : { ...run, savings: saved(run, run.phase?.id, { continuedTurns: 0, cachedTokens: 0, unsentTokens }) }
}

const withSubjects = (run: Run, subjects: ReadonlyArray<CommitSubject> = []): Run["subjects"] => [
  ...new Map([...run.subjects, ...subjects].map((entry) => [entry.commit, entry])).values()
]

const limitRaised = (run: Run, { limit }: EventOf<"LimitRaised">): Run => {
  const granted =
    limit === "run-steps"
      ? { steps: run.steps + 1 }
      : limit === "tokens"
        ? { tokens: spentTokens(run) }
        : limit === "cost"
          ? { cost: spentCost(run) }
          : {}
  return { ...run, granted: { ...run.granted, ...granted } }
}

const phaseStarted = (run: Run, event: EventOf<"PhaseStarted">): Run => {
  const read = Math.max(run.guidance.author, run.guidance.reviewer)
  return {
    ...run,
    phase: newPhase(event.phase, run.head ?? ""),
    guidance: { texts: run.guidance.texts.slice(read), author: 0, reviewer: 0 }
  }
}

const phaseCompleted = (run: Run, event: EventOf<"PhaseCompleted">): Run => ({
  ...run,
  outcomes: [
    ...run.outcomes.filter((outcome) => outcome.id !== event.phase),
    {
      id: event.phase,
      by: event.by,
      commit: event.commit,
      who: event.who,
      guidance: event.guidance,
      notes: run.phase?.items ?? [],
      tasks: run.phase?.completedTasks ?? [],
      checkpoints: run.phase?.checkpoints ?? [],
      reviewCycles: run.phase?.reviewCycles ?? 0,
      gateRuns: run.phase?.gateRuns ?? 0,
      deviations: run.phase?.deviations ?? [],
      summarised: false
    }
  ]
})

/** The part of a run that is of no phase. */
const evolveRun = (run: Run, event: RunEvent): Run => {
  switch (event._tag) {
    case "Happened":
      return { ...run, updatedAt: event.at }
    case "WorkspaceTaken":
      return { ...run, host: event.host, directory: event.directory, head: event.head }
    case "TreeChecked":
      return {
        ...run,
        head: event.head ?? run.phase?.verified ?? run.head,
        subjects: withSubjects(run, event.subjects)
      }
    case "PhaseSummarised":
      return {
        ...run,
        outcomes: run.outcomes.map((outcome) =>
          outcome.id === event.phase ? { ...outcome, summarised: true, summary: event.path } : outcome
        )
      }
    case "ContinuationEnded":
      return handedOver(run)
    case "PlanTaken":
      return { ...run, source: event.source, phases: event.phases, planTitle: event.planTitle }
    case "TurnCounted":
      return counted(run, event)
    case "SessionSeen":
      return event.kind === "reused"
        ? {
            ...run,
            sessionsReused: run.sessionsReused + 1,
            reusing: event.turnId === undefined ? run.reusing : [...run.reusing, event.turnId]
          }
        : { ...run, sessionsCreated: run.sessionsCreated + 1 }
    case "AuthorAsked": {
      const fresh = event.command._tag === "StartTurn" && event.command.session._tag === "New"
      return {
        ...run,
        ids: { ...run.ids, turns: run.ids.turns + 1, sessions: run.ids.sessions + (fresh ? 1 : 0) },
        guidance: { ...run.guidance, author: run.guidance.texts.length }
      }
    }
    // Whether the agent has read its prompt is not known: it is given all guidance again.
    case "TurnBroke":
      return { ...run, prompts: [], guidance: { ...run.guidance, author: 0 } }
    case "ReviewAsked":
      return { ...run, guidance: { ...run.guidance, reviewer: run.guidance.texts.length } }
    case "GuidanceKept":
      return { ...run, guidance: { ...run.guidance, texts: [...run.guidance.texts, event.text] } }
    case "LimitRaised":
      return limitRaised(run, event)
    case "QuestionAsked":
      return {
        ...run,
        reason: event.question.ask.reason,
        ids: { ...run.ids, escalations: run.ids.escalations + 1 },
        prompts: run.prompts.filter((prompt) => prompt.promptId !== event.question.prompt?.promptId)
      }
    case "QuestionAnswered":
      return {
        ...run,
        reason: undefined,
        lastClosed: {
          escalationId: event.escalationId,
          how: `${event.by} answered '${event.choice}' through ${event.via}`
        }
      }
    case "QuestionWithdrawn":
      return {
        ...run,
        reason: undefined,
        lastClosed: { escalationId: event.escalationId, how: `it was withdrawn (${event.reason})` }
      }
    case "PromptSeen":
      return { ...run, prompts: [...run.prompts, event.prompt] }
    case "ReportReceived":
    case "AgentRested":
    case "VerdictAccepted":
    case "ReviewBroke":
      return { ...run, prompts: [] }
    case "PauseAsked":
      return { ...run, pauseAsked: true }
    case "InputHeld":
      return { ...run, held: event.input }
    case "PhaseStarted":
      return phaseStarted(run, event)
    case "PhaseCompleted":
      return phaseCompleted(run, event)
    case "StepStarted":
      return { ...run, step: event.step, attempt: event.attempt, steps: run.steps + (breakable(event.step) ? 1 : 0) }
    case "StepWaiting":
      return { ...run, status: "waiting", step: event.step ?? run.step }
    case "StepResumed":
      return { ...run, status: "running", step: event.step ?? run.step }
    case "RunPaused":
      return { ...run, status: "paused", pauseAsked: false }
    case "RunResumed":
      return {
        ...run,
        status: run.pending._tag === "Answer" ? "waiting" : "running",
        pauseAsked: false,
        held: undefined
      }
    case "RunCompleted":
      return { ...run, status: "completed", reason: undefined }
    case "RunFailed":
      return { ...run, status: "failed", reason: event.reason }
    case "RunAborted":
      return { ...run, status: "aborted", reason: event.reason }
    default:
      return run
  }
}

const withNotice = (run: Run, event: RunEvent): Run => {
  const notice = noticeOf(event)
  return notice === undefined ? run : { ...run, notices: [...run.notices, notice].slice(-maxNotices) }
}

/** A run after one of its events. */
export const evolveStarted = (run: Run, event: RunEvent): Run => {
  const pending = pendingAfter(run, event)
  const next = withNotice(evolveRun(run, event), event)
  return {
    ...next,
    pending,
    ...(next.phase === undefined || event._tag === "PhaseStarted" ? {} : { phase: evolvePhase(next.phase, event) })
  }
}

/** The state after an event: the only place where a run changes. */
export const evolve = (state: RunState, event: RunEvent): RunState => {
  if (state._tag === "Run") return evolveStarted(state, event)
  return event._tag === "RunRequested" ? requested(event) : state
}

/** The line that an event adds to a run's notices: limits that were met, refusals, what broke, and what nobody was asked about. */
export const noticeOf = (event: RunEvent): string | undefined => {
  switch (event._tag) {
    case "Noted":
      return event.text
    case "CommitTurnedDown":
      return `Commit ${event.commit} was rejected (${event.reason}): ${event.detail}`
    case "TurnBroke":
      return event.kind === "aborted" ? undefined : `The author's turn failed (${event.kind}): ${event.message}`
    case "ReviewBroke":
      return `Review ${event.cycle} failed: ${event.reason}`
    case "WorkspaceBroke":
      return `${event.operation} failed: ${event.reason}`
    case "QuestionAsked": {
      const { origin, reason } = event.question.ask
      return origin === "limit" || origin === "quality" ? reason : undefined
    }
    case "LimitRaised":
      return `The limit '${event.limit}' of ${event.step} was granted anew.`
    case "HistoryAccepted":
      return `The history was rewritten above ${event.base}: it is taken as it is, and all since then is reviewed.`
    case "AutoRetried":
      return `Auto mode tries again: ${event.reason}`
    case "SessionSeen":
      return event.kind === "replaced"
        ? `Session ${event.sessionId} was replaced: ${event.reason ?? "no reason given"}`
        : undefined
    default:
      return undefined
  }
}

const nothing: Pending = { _tag: "Nothing" }

const below = (pending: Pending): Pending => (pending._tag === "Answer" ? pending.under : pending)

/** A turn whose session was stopped will report that it was aborted. */
const interrupted = (pending: Pending, sessionId: string): Pending =>
  pending._tag === "Turn" && pending.sessionId === sessionId ? { ...pending, interrupted: true } : pending

/** What the run waits for after an event: asking sets it, the answer clears it. */
export const pendingAfter = (run: Run, event: RunEvent): Pending => {
  const { pending } = run
  switch (event._tag) {
    case "WorkspaceAsked":
      return event.command._tag === "ReleaseWorkspace" ? pending : { _tag: "Workspace", command: event.command }
    case "AuthorAsked": {
      const { command, continued, purpose, sessionId } = event
      return { _tag: "Turn", turnId: command.turnId, sessionId, purpose, continued, interrupted: false }
    }
    case "ReviewAsked":
      return { _tag: "Review", cycle: event.command.cycle, commit: event.command.commit }
    case "QuestionAsked":
      return { _tag: "Answer", question: event.question, under: event.question.kind === "prompt" ? pending : nothing }
    case "QuestionChanged":
      return pending._tag === "Answer" ? { ...pending, question: event.question } : pending
    case "QuestionAnswered":
    case "QuestionWithdrawn":
      return below(pending)
    case "StepResumed":
      return event.cause === "agent-working" && pending._tag === "Nothing" && event.sessionId !== undefined
        ? { _tag: "Agent", sessionId: event.sessionId }
        : pending
    case "SessionStopped":
      return interrupted(pending, event.sessionId)
    case "ReviewClosed":
      return pending._tag === "Review" ? nothing : pending
    case "AgentRested":
    case "ReportReceived":
    case "TurnBroke":
    case "CommitAccepted":
    case "CommitTurnedDown":
    case "GatesEnded":
    case "VerdictAccepted":
    case "ReviewBroke":
    case "TreeChecked":
    case "WorkspaceTaken":
    case "WorkspaceBroke":
    case "StateWritten":
    case "TasksVerified":
    case "TasksMissing":
    case "PhaseSummarised":
    case "RunCompleted":
    case "RunFailed":
    case "RunAborted":
      return nothing
    default:
      return pending
  }
}
