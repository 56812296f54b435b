/** What an input means to a run: the flat match over everything that may happen. */

import { type Delivery, isSentBy, Refusal } from "@reprise/actor"
import { Equal, Result } from "effect"
import { commitRejected, commitVerified } from "../author/commit.ts"
import { turnCompleted, turnFailed } from "../author/report.ts"
import { bookkeeping } from "../author/session.ts"
import { checkpointVerified, stateWritten } from "../checkpoint/checkpoint.ts"
import { continuationRejected, continuationVerified } from "../checkpoint/continuation.ts"
import { abortRun, commandRefused, completeRun, workspaceBroke } from "../control/end.ts"
import { pauseRun, resumeRun, underWay } from "../control/pause.ts"
import { phaseBlocked, phaseFinished, phaseSummarised } from "../phase/finish.ts"
import { startRun, workspacePrepared, workspaceRefused } from "../phase/prepare.ts"
import { qualityFailed, qualityPassed } from "../quality/gates.ts"
import { agentGone, agentIdle, agentPrompting, agentWorking } from "../question/agentPrompt.ts"
import { answerReceived } from "../question/answer.ts"
import { askAgain } from "../question/escalate.ts"
import { reviewFailed, verdictReached } from "../review/review.ts"
import { drive } from "./applyMoves.ts"
import { evolve, evolveStarted } from "./evolve.ts"
import { concerns } from "./handlers.ts"
import type { InputOf, RunInput } from "./inputs.ts"
import type { RunEvents } from "./journal.ts"
import { enter, type Outcome, outcome } from "./moves.ts"
import type { PhaseRun, Run, RunState } from "./state.ts"

type Decision = Result.Result<RunEvents, Refusal>

const nothing: Decision = Result.succeed([])
const refuse = (reason: string): Decision => Result.fail(new Refusal({ reason }))

/** Of an input that answers what the run waits for: what it leads to. */
const moved = (run: Run, phase: PhaseRun, input: RunInput): Outcome => {
  const pending = underWay(run.pending)
  const question = run.pending._tag === "Answer" ? run.pending.question : undefined
  switch (input._tag) {
    case "TurnCompleted":
      return pending._tag === "Turn" ? turnCompleted(run, phase, pending, input) : outcome([])
    case "TurnFailed":
      return pending._tag === "Turn" ? turnFailed(run, pending, input) : outcome([])
    case "CommitVerified":
      return commitVerified(run, input)
    case "CommitRejected":
      return commitRejected(run, phase, input)
    case "QualityPassed":
      return input.checkpoint === undefined ? qualityPassed(input) : checkpointVerified(run, phase, input)
    case "QualityFailed":
      return input.checkpoint === undefined ? qualityFailed(run, phase, input) : checkpointVerified(run, phase, input)
    case "VerdictReached":
      return verdictReached(run, phase, input)
    case "ReviewFailed":
      return reviewFailed(input)
    case "PhaseFinished":
      return phaseFinished(run, phase, input)
    case "PhaseBlocked":
      return phaseBlocked(run, phase, input)
    case "ContinuationStateWritten":
      return stateWritten(run, phase, input)
    case "ContinuationVerified":
      return continuationVerified(phase, input)
    case "ContinuationRejected":
      return continuationRejected(input)
    case "AgentIdle":
      return agentIdle(run, phase, input)
    case "AgentGone":
      return agentGone(input)
    case "AgentPrompting":
      return agentPrompting(run, input)
    case "AgentWorking":
      return question === undefined ? outcome([]) : agentWorking(run, question, input)
    case "AnswerReceived":
      return question === undefined ? outcome([]) : answerReceived(run, question, input)
    default:
      return movedAnywhere(run, input)
  }
}

/** Inputs that may come before the first phase or after the last. */
const movedAnywhere = (run: Run, input: RunInput): Outcome => {
  const pending = underWay(run.pending)
  switch (input._tag) {
    case "WorkspacePrepared":
      return workspacePrepared(input)
    case "WorkspaceRefused":
      return workspaceRefused(run, input)
    case "SummaryWritten":
      return input.phase === undefined ? outcome(completeRun(run)) : phaseSummarised(input.phase, input.path)
    case "WorkspaceFailed":
      return pending._tag === "Workspace" ? workspaceBroke(run, pending.command, input.reason) : outcome([])
    case "CommandRefused":
      return commandRefused(run, pending, input)
    case "EscalationWithdrawn":
      return withdrawnByGate(run, input)
    default:
      return outcome([])
  }
}

/** Somebody else withdrew the question, and the run still needs its answer. */
const withdrawnByGate = (run: Run, event: InputOf<"EscalationWithdrawn">): Outcome => {
  if (run.pending._tag !== "Answer") return outcome([])
  const { escalationId, reason } = event
  const withdrawn = { _tag: "QuestionWithdrawn" as const, escalationId, reason, byGate: true }
  return outcome([withdrawn, ...askAgain(evolveStarted(run, withdrawn), run.pending.question)])
}

/** A turn or review that ends makes the agent's own open question moot. */
const supersede = (run: Run, input: RunInput): RunEvents => {
  const { pending } = run
  const ends = [
    "TurnCompleted",
    "TurnFailed",
    "VerdictReached",
    "ReviewFailed",
    "AgentIdle",
    "AgentGone",
    "CommandRefused"
  ]
  return pending._tag === "Answer" && pending.under._tag !== "Nothing" && ends.includes(input._tag)
    ? [
        { _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "superseded" },
        {
          _tag: "StepResumed",
          runId: run.runId,
          ...(run.phase === undefined ? {} : { phase: run.phase.id }),
          cause: "agent-working"
        }
      ]
    : []
}

const move = (before: Run, input: RunInput): RunEvents => {
  const superseded = supersede(before, input)
  const run = superseded.reduce(evolveStarted, before)
  const next = run.phase === undefined ? movedAnywhere(run, input) : moved(run, run.phase, input)
  return [...superseded, ...drive(run, next)]
}

/** What keeps a paused run from acting: everything but the prompts of an agent whose turn is let finish. */
const holds = (run: Run, input: RunInput): boolean =>
  run.status === "paused" || (run.pauseAsked && !isOfPrompt(run, input))

const isOfPrompt = (run: Run, input: RunInput) =>
  input._tag === "AgentPrompting" ||
  (run.pending._tag === "Answer" &&
    run.pending.under._tag !== "Nothing" &&
    (input._tag === "AnswerReceived" || input._tag === "AgentWorking" || input._tag === "EscalationWithdrawn"))

/** Kept until the run is resumed; the first one counts, since there is one thing that the run waits for. */
const hold = (run: Run, input: RunInput): RunEvents => {
  const passing = ["AgentWorking", "AgentPrompting", "AgentGone", "EscalationWithdrawn"]
  if (run.held !== undefined || (run.status === "paused" && passing.includes(input._tag))) return []
  const superseded = supersede(run, input)
  const place = run.phase === undefined ? {} : { phase: run.phase.id }
  return [
    ...superseded,
    { _tag: "InputHeld", input },
    ...(run.status === "paused" ? [] : [{ _tag: "RunPaused" as const, runId: run.runId, ...place }])
  ]
}

/** Goes on with what came while the run was paused, or with the step that was broken off. */
const resume = (run: Run): Decision =>
  Result.map(resumeRun(run), (events) => {
    const after = events.reduce(evolveStarted, run)
    if (run.held !== undefined && concerns(after, run.held)) return [...events, ...move(after, run.held)]
    if (run.status !== "paused" || after.pending._tag !== "Nothing" || after.step === undefined) return events
    return [...events, ...drive(after, outcome([], enter(after.step, "resumed")))]
  })

/** Answers are the gate's to take: it knows who was first, and closes the question for everybody. */
const besideTheGate = (input: RunInput, { id }: Delivery): Decision | undefined =>
  input._tag === "AnswerReceived" && !isSentBy("gate", input.escalationId, id)
    ? refuse(`Only the gate hands answers on: send AnswerEscalation to escalation ${input.escalationId}.`)
    : undefined

const staleAnswer = (run: Run, { escalationId }: InputOf<"AnswerReceived">): Decision => {
  const closed = run.lastClosed?.escalationId === escalationId ? `: ${run.lastClosed.how}` : ""
  return refuse(`Escalation ${escalationId} is not open${closed}. The answer changes nothing.`)
}

const sameRequest = (run: Run, request: InputOf<"StartRun">): Decision =>
  Equal.equals(run.request, request)
    ? nothing
    : refuse(`Run ${run.runId} was started with another plan, workspace or options. Start a new run for these.`)

/** Echoes of what a run's end itself brought about. */
const echoes: ReadonlyArray<RunInput["_tag"]> = [
  "SessionCreated",
  "SessionReused",
  "SessionReplaced",
  "SessionExpired",
  "SessionCompleted",
  "SessionAborted",
  "SessionArchived",
  "AgentIdle",
  "AgentGone",
  "EscalationWithdrawn",
  "CommandRefused"
]

const isEcho = (input: RunInput): boolean =>
  echoes.includes(input._tag) ||
  (input._tag === "TurnFailed" && input.kind === "aborted") ||
  (input._tag === "AgentWorking" && input.cause === "turn")

/** After the end nothing moves (run-machine: any terminal). */
const ended = (run: Run, input: RunInput): Decision => {
  if (input._tag === "StartRun") return sameRequest(run, input)
  return isEcho(input) ? nothing : refuse(`${input._tag} is stale: run ${run.runId} is ${run.status}.`)
}

/** What somebody else asked for and was refused is worth a note; only the run's own commands are waited for. */
const isOthersRefusal = ({ runId }: Run, input: RunInput, { causation }: Delivery): boolean =>
  input._tag === "CommandRefused" && causation !== undefined && !isSentBy("orchestrator", runId, causation)

const decideStarted = (run: Run, input: RunInput, delivery: Delivery): Decision => {
  if (run.status === "completed" || run.status === "failed" || run.status === "aborted") return ended(run, input)
  switch (input._tag) {
    case "StartRun":
      return sameRequest(run, input)
    case "PauseRun":
      return pauseRun(run, input.now)
    case "ResumeRun":
      return resume(run)
    case "AbortRun":
      return Result.succeed(abortRun(run, input.reason))
    default: {
      const recorded = bookkeeping(run, input)
      const after = recorded.reduce(evolveStarted, run)
      if (isOthersRefusal(run, input, delivery)) return Result.succeed(recorded)
      if (!concerns(after, input)) {
        return input._tag === "AnswerReceived" ? staleAnswer(run, input) : Result.succeed(recorded)
      }
      const refused = besideTheGate(input, delivery)
      if (refused !== undefined) return refused
      return Result.succeed([...recorded, ...(holds(after, input) ? hold(after, input) : move(after, input))])
    }
  }
}

const commands: ReadonlyArray<RunInput["_tag"]> = ["StartRun", "AnswerReceived", "PauseRun", "ResumeRun", "AbortRun"]

/** The decision alone, without the record of what led to it. */
export const decideRun = (state: RunState, input: RunInput, delivery: Delivery): Decision => {
  if (input.runId !== delivery.key) {
    return refuse(`The message for ${delivery.key} names run ${input.runId}: they must be the same.`)
  }
  if (state._tag === "Run") return decideStarted(state, input, delivery)
  if (input._tag === "StartRun") return Result.succeed(startRun(input, delivery.now))
  return commands.includes(input._tag)
    ? refuse(`There is no run ${input.runId}. 'reprise status' lists the runs.`)
    : nothing
}

/** Every journal entry begins with what led to it, and when. */
export const decide = (state: RunState, input: RunInput, delivery: Delivery): Decision => {
  const happened = { _tag: "Happened" as const, input: input._tag, id: delivery.id, at: delivery.now }
  // Its time is known to the decision: how old a session is counts.
  return Result.map(decideRun(evolve(state, happened), input, delivery), (events) =>
    events.length === 0 ? events : [happened, ...events]
  )
}
