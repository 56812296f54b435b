/** What beginning, stepping through and completing phases changes in a run. */
import {
  type CommitSubject,
  type Host,
  type PhaseId,
  type SessionId,
  type Step,
  type StepAgent,
  sameAgent,
  type WorkspaceCommand
} from "@reprise/protocol"
import { asJournalled, type Evolution, type Reactions, unchanged } from "../run/family.ts"
import type { EventOf } from "../run/journal.ts"
import { atPhaseStart } from "../run/ledger.ts"
import { nothing, nothingTold, type PhaseRun, type Run, withNotice, withPhase } from "../run/state.ts"
import { isCounted, isCountedVisit } from "../run/transitions.ts"

/** A phase that begins at this commit. */
const newPhase = (id: PhaseId, base: string): PhaseRun => ({
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
  brokenReviews: 0,
  dirty: [],
  autoRetries: [],
  sessions: [],
  completedTasks: [],
  checkpoints: [],
  continuations: 0,
  continuationsGranted: 0,
  failedContinuations: 0,
  continued: false,
  deviations: [],
  told: nothingTold
})

/** Agents who go on on another host begin there: with an empty context, and as old as the phase. */
const phaseStarted = ({ moved, ...run }: Run, event: EventOf<"PhaseStarted">): Run => {
  const since = run.updatedAt
  const { author, reviewer } = moved?.phase === event.phase ? moved : {}
  return {
    ...run,
    phase: {
      ...newPhase(event.phase, run.head ?? ""),
      ...(author === undefined ? {} : { author: { ...author, since } }),
      ...(reviewer === undefined ? {} : { reviewer: { ...reviewer, since } })
    },
    ledger: atPhaseStart(run.ledger, event.phase)
  }
}

const oneMore = (counts: PhaseRun["visits"], step: Step): PhaseRun["visits"] => ({
  ...counts,
  [step]: (counts[step] ?? 0) + 1
})

const isSame = (a: StepAgent, b: StepAgent): boolean =>
  a.role === b.role && sameAgent(a, b) && a.rule?.number === b.rule?.number && a.by === b.by

/** A rule that has applied holds until the phase ends. */
const withStepAgent = ({ agents = [], heldRules }: PhaseRun, agent: StepAgent): Partial<PhaseRun> => ({
  agents: agents.some((one) => isSame(one, agent)) ? agents : [...agents, agent],
  ...(agent.rule === undefined ? {} : { heldRules: { ...heldRules, [agent.role]: agent.rule.number } })
})

/** A visit that a human chose does not count towards the limit. */
const phaseAtStep = (phase: PhaseRun, { agent, cause, step }: EventOf<"StepStarted">): PhaseRun => ({
  ...phase,
  ...(agent === undefined ? {} : withStepAgent(phase, agent)),
  stepRole: agent?.role,
  visits: oneMore(phase.visits, step),
  visitsGranted: isCountedVisit(cause) ? phase.visitsGranted : oneMore(phase.visitsGranted, step),
  told: nothingTold,
  ...(step === "QUALITY_RETRY" && cause === "gates-failed" ? { qualityRetries: phase.qualityRetries + 1 } : {}),
  ...(step === "AUTO_FIX" ? { qualityRetries: 0 } : {}),
  ...(step === "REVIEW" ? { dirty: [] } : {})
})

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
      ...(run.phase?.authors === undefined ? {} : { authors: run.phase.authors }),
      ...(run.phase?.agents === undefined ? {} : { agents: run.phase.agents }),
      summarised: false
    }
  ]
})

const withSubjects = (run: Run, subjects: ReadonlyArray<CommitSubject> = []): Run["subjects"] => [
  ...new Map([...run.subjects, ...subjects].map((entry) => [entry.commit, entry])).values()
]

/** A human has approved the phase as it is, and its commits are not known to be at the remote. */
const isUnpushed = ({ outcomes, pending, phase, step }: Run): boolean => {
  if (step !== "PHASE_COMPLETE" || outcomes.find(({ id }) => id === phase?.id)?.by !== "override") return false
  if (pending._tag === "Answer") return pending.question.ask.origin !== "plan"
  return !(pending._tag === "Workspace" && pending.command._tag === "WriteSummary")
}

/** The author, if its session goes on. How full its context was, and what it wrote last, is lost with its runtime session. */
const movedAuthor = (
  { author }: PhaseRun,
  sessionId: SessionId | undefined,
  movedFrom: Host
): Pick<PhaseRun, "author"> =>
  sessionId === undefined
    ? {}
    : { author: { sessionId, state: "moved", why: `host ${movedFrom} is gone`, movedFrom, agent: author?.agent } }

/** Likewise the reviewer. */
const movedReviewer = ({ reviewer }: PhaseRun): Pick<PhaseRun, "reviewer"> =>
  reviewer === undefined ? {} : { reviewer: { agent: reviewer.agent } }

/**
 * What was under way is lost with a host that is gone. What humans said in the phase is kept, and its count of sessions and
 * steps.
 */
const moved = (run: Run, { author, cause, from }: EventOf<"RunMoved">): Run => {
  const { branch: _branch, directory: _directory, held: _held, host: _host, leaves: _leaves, phase, ...rest } = run
  const left: Run = { ...rest, pending: nothing, prompts: [], working: [] }
  if (cause === "drained") return withNotice(left, `Host ${from} is drained: the run moves elsewhere.`)
  const again = phase === undefined ? "" : ` Phase ${phase.id} begins again.`
  const lost: Run = {
    ...left,
    ...(phase === undefined
      ? {}
      : { moved: { phase: phase.id, ...movedAuthor(phase, author, from), ...movedReviewer(phase) } }),
    outcomes: isUnpushed(run) ? run.outcomes.filter(({ id }) => id !== phase?.id) : run.outcomes,
    status: run.status === "paused" ? "paused" : "running"
  }
  return withNotice(lost, `Host ${from} is gone, and with it what was not pushed.${again}`)
}

/** Whether the command runs the phase's own gates, not those that verify a checkpoint. */
const runsGates = (command: WorkspaceCommand): boolean =>
  command._tag === "RunQualityGates" && command.checkpoint === undefined

export const phaseEvolution = {
  WorkspaceAsked: (run, { command }) => ({
    ...withPhase(run, (phase) => (runsGates(command) ? { ...phase, gateRuns: phase.gateRuns + 1 } : phase)),
    // Nobody waits for the end of a release.
    pending: command._tag === "ReleaseWorkspace" ? run.pending : { _tag: "Workspace", command }
  }),
  RunStarted: unchanged,
  WorkspaceTaken: (run, { branch, directory, head, host }) => ({
    ...run,
    host,
    directory,
    branch,
    head,
    pending: nothing
  }),
  RunMoved: moved,
  PhaseStarted: phaseStarted,
  StepStarted: (run, event) => ({
    ...withPhase(run, (phase) => phaseAtStep(phase, event)),
    step: event.step,
    attempt: event.attempt,
    steps: run.steps + (isCounted(event.step) ? 1 : 0)
  }),
  TreeChecked: ({ leaves: _, ...run }, { dirty, head, leaves, subjects }) => ({
    ...withPhase(run, (phase) => ({ ...phase, dirty })),
    ...(leaves === true ? { leaves } : {}),
    pending: nothing,
    head: head ?? run.phase?.verified ?? run.head,
    subjects: withSubjects(run, subjects)
  }),
  PhaseCompleted: phaseCompleted,
  PhaseSummarised: (run, { path, phase }) => ({
    ...run,
    pending: nothing,
    outcomes: run.outcomes.map((outcome) =>
      outcome.id === phase ? { ...outcome, summarised: true, summary: path } : outcome
    )
  }),
  PlanTaken: (run, { phases, planTitle, source }) => ({ ...run, source, phases, planTitle })
} satisfies Partial<Evolution>

export const phaseReactions = {
  WorkspaceAsked: (runId, { command }) => [asJournalled("workspace", runId, command)]
} satisfies Partial<Reactions>
