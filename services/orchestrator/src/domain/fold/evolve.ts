import { addTokens, type CommitSubject, noTokens, type PhaseId } from "@reprise/protocol"
import type { EventOf, RunEvent } from "../Event.ts"
import type { PhaseUsage, Run, RunState, Saving, Usage } from "../Run.ts"
import { spentCost, spentTokens } from "../spent.ts"
import { breakable } from "../transitions.ts"
import { evolvePhase, newPhase } from "./evolvePhase.ts"
import { noticeOf } from "./noticeOf.ts"
import { pendingAfter } from "./pendingAfter.ts"

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
