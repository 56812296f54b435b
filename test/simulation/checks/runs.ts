/** What holds for each run: its phases, its limits, its questions and its books. */
import { transitions } from "@reprise/orchestrator"
import { addTokens, noTokens, type Tokens } from "@reprise/protocol"
import { callsByHand } from "../parts/agents.ts"
import { contentOf } from "../parts/Record.ts"
import type { Check, Evidence } from "./Check.ts"
import type { Histories, RunHistory } from "./histories.ts"

type RunEvent = RunHistory["steps"][number]["events"][number]
type EventOf<Tag extends RunEvent["_tag"]> = Extract<RunEvent, { readonly _tag: Tag }>

const eventsOf = ({ steps }: RunHistory): ReadonlyArray<RunEvent> => steps.flatMap(({ events }) => events)
const only = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag): ReadonlyArray<EventOf<Tag>> =>
  events.filter((event): event is EventOf<Tag> => event._tag === tag)

const isEnd = ({ _tag }: RunEvent) => _tag === "RunCompleted" || _tag === "RunFailed" || _tag === "RunAborted"

/** The events of each phase of a run. */
const phasesOf = (history: RunHistory) => {
  const phases: Array<{ readonly id: string; readonly events: Array<RunEvent> }> = []
  for (const event of eventsOf(history)) {
    if (event._tag === "PhaseStarted") phases.push({ id: event.phase, events: [] })
    phases.at(-1)?.events.push(event)
  }
  return phases
}

export const phasesAreDoneOnce: Check = (_, { orchestrator }) =>
  [...orchestrator].flatMap(([runId, history]) => {
    const ids = only(eventsOf(history), "PhaseCompleted").map(({ phase }) => phase)
    const ends = eventsOf(history).filter(isEnd)
    return [
      ...(new Set(ids).size === ids.length ? [] : [`run ${runId} completed a phase twice: ${ids}`]),
      ...(ends.length <= 1 ? [] : [`run ${runId} ended ${ends.length} times`])
    ]
  })

/** A task whose commit was verified is done again only after a human or the workspace has taken it back. */
export const verifiedWorkIsNotRedone: Check = ({ agents, repositories, world }, { orchestrator }) =>
  world.runs.flatMap(({ directory, runId }) => {
    const history = orchestrator.get(runId)
    if (history === undefined) return []
    const events = eventsOf(history)
    const verified = new Map<string, string>()
    const redone: Array<string> = []
    const done = agents.tasks.filter((task) => task.runId === runId)
    const accepted = new Set(only(events, "ClaimsAccepted").flatMap(({ tasks }) => tasks.map(({ commit }) => commit)))
    const dropped = new Set([
      ...only(events, "TasksDropped").flatMap(({ tasks }) => tasks.map(({ commit }) => commit)),
      ...only(events, "ContinuationBegun").flatMap(({ continuation }) => continuation.failed ?? [])
    ])
    const indexOf = (commit: string) => repositories.get(directory)?.indexOf(commit) ?? -1
    const heads = only(events, "CommitAccepted").map(({ commit }) => indexOf(commit))
    const newest = new Map<string, string>()
    for (const { commit, task } of done) {
      const earlier = newest.get(task)
      const at = earlier === undefined ? Infinity : indexOf(earlier)
      if (earlier !== undefined && heads.some((head) => at <= head && head < indexOf(commit)))
        verified.set(task, earlier)
      newest.set(task, commit)
      const before = verified.get(task)
      if (before !== undefined && !dropped.has(before))
        redone.push(`${task} of run ${runId} was verified as ${before}, and done again as ${commit}`)
      if (accepted.has(commit)) verified.set(task, commit)
    }
    return redone
  })

/** No phase is approved past a checkpoint of the plan that nobody has answered. */
export const checkpointsAreAnswered: Check = ({ world }, { orchestrator }) =>
  world.runs.flatMap((run) => {
    const history = orchestrator.get(run.runId)
    if (history === undefined) return []
    return phasesOf(history).flatMap(({ events, id }) => {
      const isApproved = events.some((event) => event._tag === "PhaseCompleted" && event.by === "review")
      if (!isApproved) return []
      const opened = new Set(only(events, "CheckpointOpened").map(({ checkpoint }) => checkpoint.report.task))
      const planned = run.phases.find((phase) => phase.id === id)?.tasks ?? []
      return planned.flatMap((task) =>
        task.checkpoint === undefined || opened.has(task.id)
          ? []
          : [`phase ${id} of run ${run.runId} was approved, and nobody was asked at checkpoint ${task.id}`]
      )
    })
  })

const grantsOf = (events: ReadonlyArray<RunEvent>, limit: EventOf<"LimitRaised">["limit"]) =>
  only(events, "LimitRaised").filter((event) => event.limit === limit).length

const visitsOf = (events: ReadonlyArray<RunEvent>, step: string): ReadonlyArray<EventOf<"StepStarted">> =>
  only(events, "StepStarted").filter((event) => event.step === step)

const isUncounted = ({ cause }: EventOf<"StepStarted">) =>
  Object.entries(transitions).some(([name, way]) => name === cause && "uncounted" in way)

/** A human who raises the limit grants as many again and one; each visit that does not count grants its own. */
const visitsGranted = (events: ReadonlyArray<RunEvent>, step: string, most: number): number => {
  const raised = only(events, "LimitRaised").filter((event) => event.step === step && event.limit === "step-visits")
  return (most + 1) * (1 + raised.length) - 1 + visitsOf(events, step).filter(isUncounted).length
}

/** Counted from the events alone, since a counter that is reset would not notice. */
export const limitsHold: Check = ({ world }, { orchestrator }) =>
  world.runs.flatMap(({ options, runId }) => {
    const history = orchestrator.get(runId)
    if (history === undefined) return []
    const { maxAutoRetries, maxContinuations, maxReviewIterations, maxStepVisits } = options.limits
    return phasesOf(history).flatMap(({ events, id }) => {
      const over = (name: string, count: number, most: number) =>
        count > most ? [`phase ${id} of run ${runId}: ${count} ${name}, the limit is ${most}`] : []
      const reviews = only(events, "VerdictAccepted").length
      const steps = only(events, "StepStarted").map(({ step }) => step)
      const counted = [...new Set(steps)].filter((step) => step !== "PREPARE" && step !== "PHASE_COMPLETE")
      return [
        ...over(
          "verdicts",
          reviews,
          maxReviewIterations + grantsOf(events, "review-cycles") + grantsOf(events, "stalled-review")
        ),
        ...over("automatic retries", only(events, "AutoRetried").length, maxAutoRetries),
        ...over(
          "continuations",
          only(events, "ContinuationEnded").length,
          maxContinuations * (1 + grantsOf(events, "continuations"))
        ),
        ...counted.flatMap((step) =>
          over(`visits of ${step}`, visitsOf(events, step).length, visitsGranted(events, step, maxStepVisits))
        )
      ]
    })
  })

/** Retries of the gates since they last passed, or since a fix, which grants them again. */
export const gateRetriesHold: Check = ({ world }, { orchestrator }) =>
  world.runs.flatMap(({ options, runId }) => {
    const history = orchestrator.get(runId)
    if (history === undefined) return []
    let retries = 0
    const over: Array<string> = []
    for (const event of eventsOf(history)) {
      if (event._tag === "PhaseStarted" || (event._tag === "GatesEnded" && event.passed)) retries = 0
      if (event._tag === "LimitRaised" || event._tag === "QuestionAnswered" || event._tag === "AutoRetried") retries = 0
      if (event._tag === "QuestionWithdrawn") retries = 0
      if (event._tag === "StepStarted" && event.step === "AUTO_FIX") retries = 0
      if (event._tag === "StepStarted" && event.step === "QUALITY_RETRY" && event.cause === "gates-failed") retries += 1
      if (retries > options.limits.maxQualityRetries) over.push(`run ${runId} retried its gates ${retries} times`)
    }
    return over
  })

const tokensOf = (story: Evidence, directory: string): Tokens =>
  [...story.runtime.directories].reduce((sum, [id, at]) => {
    if (at !== directory) return sum
    return addTokens(sum, story.inspect((runtime) => runtime.inspect(id)).usage.tokens)
  }, noTokens)

/** What humans' turns used that began after their session had ended: nobody counts it. */
const usedAfterTheEnd = ({ agents, record }: Evidence, runId: string) => {
  const endedAtMs = new Map(
    record
      .filter(({ kind, type }) => kind === "work" && type === "SaveTranscript")
      .map(
        (stored) =>
          [(contentOf(stored) as { readonly runtimeSessionId: string }).runtimeSessionId, stored.atMs] as const
      )
  )
  const turns = agents.byHand.filter(
    (turn) => turn.runId === runId && turn.atMs >= (endedAtMs.get(turn.runtimeSessionId) ?? Infinity)
  )
  const input = turns.reduce((sum, { text }) => sum + callsByHand * Math.ceil(text.length / 4), 0)
  return { input, output: callsByHand * turns.length }
}

/** What a turn uses is counted when it ends. */
const hasOpenTurn = (sessions: Histories["session-manager"], directory: string): boolean =>
  [...sessions.values()].some(({ state }) => state.details?.directory === directory && state.turn !== undefined)

/** What a run has counted is what its agents have used. */
export const accountsAddUp: Check = (story, { orchestrator, "session-manager": sessions }) =>
  story.world.runs.flatMap(({ directory, runId }) => {
    const state = orchestrator.get(runId)?.state
    if (state?._tag !== "Run" || story.unrest !== undefined) return []
    const { author, fixer, reviewer } = state.usage
    const counted = [author, reviewer, ...(fixer === undefined ? [] : [fixer])].reduce(
      (sum, { tokens }) => addTokens(sum, tokens),
      noTokens
    )
    const used = tokensOf(story, directory)
    const text = `run ${runId} counted ${counted.input}+${counted.output} tokens, its agents used ${used.input}+${used.output}`
    if (counted.input > used.input || counted.output > used.output) return [`too much: ${text}`]
    const later = usedAfterTheEnd(story, runId)
    const isShort = counted.input + later.input < used.input || counted.output + later.output < used.output
    return isShort && !hasOpenTurn(sessions, directory) ? [`too little: ${text}`] : []
  })

/** A run that has ended leaves its working tree to others. */
export const leasesAreGivenBack: Check = (story, { orchestrator }) => {
  const leases = story.read((broker) => broker.views.list("lease"))
  return leases.flatMap(({ value }) => {
    const { free, runId } = JSON.parse(value)
    const state = orchestrator.get(runId)?.state
    const hasEnded = state?._tag === "Run" && ["completed", "failed", "aborted"].includes(state.status)
    return hasEnded && free === false ? [`run ${runId} has ended, and its working tree is still leased`] : []
  })
}

export const workspacesAreDone: Check = (story, { orchestrator, workspace }) =>
  [...workspace].flatMap(([runId, { state }]) => {
    const run = orchestrator.get(runId)?.state
    const waits = run?._tag === "Run" && run.status === "waiting" && run.pending._tag === "Answer"
    return state.queue.length > 0 && !waits && story.unrest === undefined
      ? [`the workspace of run ${runId} still has ${state.queue.length} requests`]
      : []
  })
