/** Pause, at any time (docs/design/run-machine.md#the-run-machine-orchestrator). */

import { type Refusal, refusing } from "@reprise/actor"
import { defined } from "@reprise/protocol"
import { Result } from "effect"
import { promptOf, withdrawMootPrompt } from "../question/agentPrompt.ts"
import { keepHeldAnswer } from "../question/answer.ts"
import { agentWorkingInPause } from "../question/autoResume.ts"
import type { RunInput } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { next, type Outcome, outcome } from "../run/moves.ts"
import { locationOf } from "../run/standalone.ts"
import { type Run, underWay } from "../run/state.ts"

type Decision = Result.Result<Outcome, Refusal>

const refuse = refusing("orchestrator")

const paused = (run: Run): RunEvent => ({
  _tag: "RunPaused",
  ...locationOf(run),
  ...defined({ step: run.step })
})

/**
 * Ends the turn of the author, or of the reviewer, and keeps its session: the step goes on in it when the run is resumed.
 * What the agent asked in that turn is moot.
 */
const interrupt = (run: Run): RunEvents => {
  const { pending, phase } = run
  const current = underWay(pending)
  const reason = "the run is paused"
  const closed: RunEvents =
    pending._tag === "Answer"
      ? [{ _tag: "QuestionWithdrawn", escalationId: pending.question.ask.escalationId, reason: "superseded" }]
      : []
  if (current._tag === "Turn") {
    const { sessionId, turnId } = current
    return [...closed, { _tag: "TurnInterrupted", sessionId, turnId, reason }]
  }
  return current._tag === "Review" && phase !== undefined
    ? [...closed, { _tag: "ReviewInterrupted", phase: phase.id, reason }]
    : []
}

/** Whatever is under way may finish first, unless `now`. Where nothing is, the run is paused at once. */
export const pauseRun = (run: Run, now: boolean): Decision => {
  if (run.status === "paused")
    return refuse("already-paused", `Run ${run.runId} is paused already. 'reprise resume' continues it.`)
  if (now) return Result.succeed(outcome([...interrupt(run), paused(run)]))
  const { _tag: current } = underWay(run.pending)
  if (current === "Nothing" || current === "Agent" || current === "Answer")
    return Result.succeed(outcome([paused(run)]))
  return run.pauseAsked
    ? refuse("pausing", `Run ${run.runId} pauses once the work under way has finished; use --now to interrupt it.`)
    : Result.succeed(outcome([{ _tag: "PauseAsked", now }]))
}

const isAboutPrompt = (run: Run, input: RunInput): boolean =>
  input._tag === "AgentPrompting" ||
  (run.pending._tag === "Answer" &&
    run.pending.under._tag !== "Nothing" &&
    (input._tag === "AnswerReceived" || input._tag === "AgentWorking" || input._tag === "EscalationWithdrawn"))

/** A paused run holds everything back; one that is about to pause still serves the prompts of its agent's last turn. */
export const isHeldBack = (run: Run, input: RunInput): boolean =>
  run.status === "paused" || (run.pauseAsked && !isAboutPrompt(run, input))

/** What says nothing any more when a paused run is resumed. */
const passing: ReadonlyArray<RunInput["_tag"]> = ["AgentWorking", "AgentPrompting"]

/**
 * The work under an agent's question ended while the run is paused, which it stays. Its end is kept in place of an answer,
 * which has become moot but for its words.
 */
const holdEnd = (moot: RunEvents, input: RunInput): Outcome =>
  outcome(
    moot.filter(({ _tag }) => _tag === "QuestionWithdrawn"),
    next((run) => outcome([...keepHeldAnswer(run), { _tag: "InputHeld", input }]))
  )

/** Kept until the run is resumed. The first input wins, since a run waits for one thing only. */
export const holdBack = (run: Run, input: RunInput): Outcome => {
  const { pending } = run
  if (run.held === undefined && run.status === "paused" && input._tag === "AgentWorking" && pending._tag === "Answer") {
    return outcome(agentWorkingInPause(run, pending.question, input))
  }
  // The agent that took over waits for this answer: it is asked for once the run is resumed.
  if (run.status === "paused" && input._tag === "AgentPrompting" && pending._tag === "Agent") {
    return outcome([{ _tag: "PromptSeen", prompt: promptOf(input) }])
  }
  const moot = withdrawMootPrompt(run, input)
  if (moot.length > 0 && run.status === "paused") return holdEnd(moot, input)
  if (run.held !== undefined || (run.status === "paused" && passing.includes(input._tag))) return outcome([])
  return outcome([
    ...moot,
    { _tag: "InputHeld", input },
    ...(run.status === "paused" ? [] : [{ _tag: "RunPaused" as const, ...locationOf(run) }])
  ])
}
