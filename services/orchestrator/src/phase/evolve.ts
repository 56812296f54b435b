import type { CompletedTask, PhaseId, Step } from "@reprise/protocol"
import type { EventOf, RunEvent } from "../actor/journal.ts"
import type { Author, PhaseCheckpoint, PhaseRun } from "../actor/state.ts"

/** A phase that begins at this commit. */
export const newPhase = (id: PhaseId, base: string): PhaseRun => ({
  id,
  base,
  visits: {},
  visitsGranted: {},
  gateRuns: 0,
  qualityRetries: 0,
  gateResults: [],
  reviewCycles: 0,
  verdicts: 0,
  reviewsGranted: 0,
  items: [],
  stalled: 0,
  notes: [],
  dirty: [],
  autoRetries: [],
  sessions: [],
  completedTasks: [],
  checkpoints: [],
  continuations: 0,
  continuationsGranted: 0,
  failedContinuations: 0,
  deviations: [],
  told: { report: false, commit: false }
})

/** By id, in the order in which they were first reported; a later report of a task replaces an earlier one. */
const merge = (known: ReadonlyArray<CompletedTask>, more: ReadonlyArray<CompletedTask>) => [
  ...new Map([...known, ...more].map((task) => [task.id, task])).values()
]

const stepStarted = (phase: PhaseRun, event: EventOf<"StepStarted">): PhaseRun => ({
  ...phase,
  visits: { ...phase.visits, [event.step]: (phase.visits[event.step] ?? 0) + 1 },
  told: { report: false, commit: false },
  ...(event.step === "QUALITY_RETRY" && event.cause === "gates-failed"
    ? { qualityRetries: phase.qualityRetries + 1 }
    : {}),
  ...(event.step === "AUTO_FIX" ? { qualityRetries: 0 } : {}),
  ...(event.step === "REVIEW" ? { dirty: [] } : {})
})

const authorAsked = (phase: PhaseRun, { at: since, command, purpose, sessionId }: EventOf<"AuthorAsked">): PhaseRun => {
  const told = {
    report: phase.told.report || purpose === "report-correction",
    commit: phase.told.commit || purpose === "commit-rejected"
  }
  return command._tag === "StartTurn" && command.session._tag === "New"
    ? { ...phase, told, author: { sessionId, state: "usable", since }, sessions: [...phase.sessions, sessionId] }
    : { ...phase, told }
}

/** A report shows that a session is in order, whatever was thought of it before, unless it was ended since. */
const authorAfterReport = (author: Author | undefined, context: Author["context"]): Author | undefined =>
  author === undefined || author.state === "ended"
    ? author
    : { sessionId: author.sessionId, state: "usable", since: author.since, context: context ?? author.context }

/** What the author says while findings are open is about these: what it declined, and why. */
const onFindings = ({ items }: PhaseRun, notes: string | undefined): ReadonlyArray<string> =>
  items.length === 0 || notes === undefined || notes.trim() === ""
    ? []
    : [`The author on the review's findings: ${notes}`]

const reportReceived = (phase: PhaseRun, event: EventOf<"ReportReceived">): PhaseRun => {
  const { context, continued, lastLines, status } = event
  return {
    ...phase,
    author: authorAfterReport(phase.author, context),
    failedContinuations: phase.failedContinuations + (continued === true && status.result === "failed" ? 1 : 0),
    completedTasks: merge(phase.completedTasks, status.completedTasks ?? []),
    deviations: [...phase.deviations, ...onFindings(phase, status.notes)],
    notes: status.notes === undefined || status.notes.trim() === "" ? phase.notes : [...phase.notes, status.notes],
    lastLines
  }
}

const endingKinds: ReadonlyArray<string> = ["timeout", "aborted", "session-missing"]

const turnBroke = (phase: PhaseRun, event: EventOf<"TurnBroke">): PhaseRun => {
  const state: Author["state"] = event.usable ? "usable" : endingKinds.includes(event.kind) ? "ended" : "doubtful"
  const why = `its last turn failed (${event.kind}): ${event.message}`
  return {
    ...phase,
    ...(phase.author === undefined ? {} : { author: { ...phase.author, state, why } }),
    failedContinuations: phase.failedContinuations + (event.continued === true ? 1 : 0),
    lastLines: event.lastLines
  }
}

const verdictAccepted = (phase: PhaseRun, { verdict }: EventOf<"VerdictAccepted">): PhaseRun => {
  const before = phase.items.length
  const noFewer = phase.verdicts > 0 && before > 0 && verdict.items.length >= before
  return {
    ...phase,
    verdicts: phase.verdicts + 1,
    items: verdict.items,
    stalled: noFewer ? phase.stalled + 1 : 0
  }
}

/** As many visits again as the limit allows, and at least one. */
const grantVisits = (phase: PhaseRun, step: Step): PhaseRun => ({
  ...phase,
  visitsGranted: { ...phase.visitsGranted, [step]: (phase.visits[step] ?? 0) + 1 }
})

const limitRaised = (phase: PhaseRun, event: EventOf<"LimitRaised">): PhaseRun => {
  switch (event.limit) {
    case "step-visits":
      return grantVisits(phase, event.step)
    case "review-cycles":
      return { ...phase, reviewsGranted: phase.reviewsGranted + 1 }
    case "stalled-review":
      return { ...phase, stalled: 0 }
    case "quality-retries":
      return { ...phase, qualityRetries: 0 }
    case "continuations":
      return { ...phase, continuationsGranted: phase.continuations + 1 }
    default:
      return phase
  }
}

const sessionLost = (phase: PhaseRun, { sessionId, why }: EventOf<"SessionLost">): PhaseRun => ({
  ...phase,
  sessions: phase.sessions.filter((id) => id !== sessionId),
  ...(phase.author?.sessionId === sessionId ? { author: { sessionId, state: "ended" as const, why } } : {})
})

/** The open checkpoint, if there is one, is the newest: resolved like this. */
const withResolution = ({ checkpoint, checkpoints }: PhaseRun, resolution: string | undefined, words?: string) => {
  const newest = checkpoints.at(-1)
  return checkpoint === undefined || newest === undefined || resolution === undefined
    ? checkpoints
    : [...checkpoints.slice(0, -1), { ...newest, resolution, words }]
}

/** The agent made progress by itself: what was counted against its step is forgotten (run-machine: auto-resume). */
const agentSeen = (phase: PhaseRun, step: Step | undefined): PhaseRun =>
  step === undefined
    ? phase
    : {
        ...phase,
        checkpoint: undefined,
        checkpoints: withResolution(phase, "resolved in the author's own session"),
        qualityRetries: 0,
        visits: { ...phase.visits, [step]: 0 },
        told: { report: false, commit: false }
      }

const checkpointOpened = (phase: PhaseRun, { checkpoint }: EventOf<"CheckpointOpened">): PhaseRun => {
  const { report } = checkpoint
  const { task, type } = report
  const completedBefore = phase.completedTasks.map(({ id }) => id)
  return { ...phase, checkpoint, checkpoints: [...phase.checkpoints, { task, type, completedBefore, report }] }
}

const continuationBegun = (phase: PhaseRun, { continuation }: EventOf<"ContinuationBegun">): PhaseRun => {
  const checkpoints = withResolution(phase, continuation.resolution, continuation.words)
  return { ...phase, continuation, checkpoint: undefined, checkpoints }
}

const missingOf = ({ _tag, ...missing }: EventOf<"TasksMissing">): PhaseRun["missing"] => missing

/** A task that is done again is done after the checkpoint, and a look at what it was before no longer counts. */
const withoutTasks = (checkpoint: PhaseCheckpoint, dropped: ReadonlyArray<string>): PhaseCheckpoint => {
  const { completedBefore, resolution, task, type } = checkpoint
  const lost = type === "human-verify" && resolution !== undefined && dropped.includes(task)
  return {
    ...checkpoint,
    completedBefore: completedBefore.filter((id) => !dropped.includes(id)),
    ...(lost ? { resolution: `lost with its work: ${resolution}` } : {})
  }
}

/** What was dropped is remembered as a deviation: it will have been made twice. */
const tasksDropped = (phase: PhaseRun, { tasks }: EventOf<"TasksDropped">): PhaseRun => {
  const dropped = tasks.map((task) => task.id)
  const words = tasks.map(({ commit, id }) => `Task ${id} was done again: its work of commit ${commit} was missing.`)
  const { base = phase.base, missingCommits = [] } = phase.missing ?? {}
  return {
    ...phase,
    base,
    verified: missingCommits.includes(phase.verified ?? "") ? undefined : phase.verified,
    completedTasks: phase.completedTasks.filter((task) => !dropped.includes(task.id)),
    checkpoints: phase.checkpoints.map((checkpoint) => withoutTasks(checkpoint, dropped)),
    deviations: [...phase.deviations, ...words]
  }
}

/** The part of a run that is of its current phase. */
export const evolvePhase = (phase: PhaseRun, event: RunEvent): PhaseRun => {
  switch (event._tag) {
    case "StepStarted":
      return stepStarted(phase, event)
    case "StepResumed":
      return event.cause === "agent-working" ? agentSeen(phase, event.step) : phase
    case "AuthorAsked":
      return authorAsked(phase, event)
    case "ReportReceived":
      return reportReceived(phase, event)
    case "TurnBroke":
      return turnBroke(phase, event)
    case "CommitAccepted":
      return { ...phase, verified: event.commit, diffStat: event.diffStat }
    case "WorkspaceAsked":
      return event.command._tag === "RunQualityGates" && event.command.checkpoint === undefined
        ? { ...phase, gateRuns: phase.gateRuns + 1 }
        : phase
    case "GatesEnded":
      return event.checkpoint === undefined ? { ...phase, gateResults: event.results } : phase
    case "ReviewAsked":
      return { ...phase, reviewCycles: phase.reviewCycles + 1, notes: [] }
    case "VerdictAccepted":
      return verdictAccepted(phase, event)
    case "TreeChecked":
      return { ...phase, dirty: event.dirty }
    case "LimitRaised":
      return limitRaised(phase, event)
    case "HistoryAccepted":
      return phase.verified === undefined ? { ...phase, base: event.base } : { ...phase, verified: undefined }
    case "AutoRetried":
      return { ...phase, autoRetries: [...phase.autoRetries, event.reason] }
    case "SessionSeen":
      return event.kind === "replaced" && phase.author?.sessionId === event.sessionId
        ? { ...phase, author: { ...phase.author, context: undefined } }
        : phase
    case "SessionLost":
      return sessionLost(phase, event)
    case "SessionReleased":
    case "SessionStopped":
      return sessionLost(phase, { _tag: "SessionLost", sessionId: event.sessionId, why: "it was ended" })
    case "CheckpointOpened":
      return checkpointOpened(phase, event)
    case "ContinuationBegun":
      return continuationBegun(phase, event)
    case "StateWritten":
      return { ...phase, statePath: event.path, stateDigest: event.digest }
    case "TasksMissing":
      return { ...phase, missing: missingOf(event) }
    case "TasksVerified":
      return { ...phase, base: event.base ?? phase.base }
    case "TasksDropped":
      return tasksDropped(phase, event)
    case "ContinuationEnded":
      return { ...phase, continuations: phase.continuations + 1, missing: undefined }
    default:
      return phase
  }
}
