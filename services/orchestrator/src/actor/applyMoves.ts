/** Carries out moves, one after the other, until a decision leads to none: the one place that all transitions pass. */

import type { SessionDecision, Step } from "@reprise/protocol"
import { askForWork, tellAuthor } from "../author/ask.ts"
import { decided, sessionFor } from "../author/session.ts"
import { openCheckpoint } from "../checkpoint/checkpoint.ts"
import { beginContinuation, continuationOf } from "../checkpoint/continuation.ts"
import { isContinued } from "../checkpoint/prompt.ts"
import { abortRun } from "../control/end.ts"
import { startNextPhase, startPhaseGate } from "../phase/finish.ts"
import { placeOf } from "../phase/plan.ts"
import { startGates } from "../quality/gates.ts"
import { nextPrompt } from "../question/agentPrompt.ts"
import { raise, retryFresh } from "../question/escalate.ts"
import { limitAt } from "../question/limits.ts"
import { startReview } from "../review/review.ts"
import { evolveStarted } from "./evolve.ts"
import type { RunEvent, RunEvents } from "./journal.ts"
import { escalate, fresh, type Move, type Outcome, outcome } from "./moves.ts"
import type { PhaseRun, Run } from "./state.ts"
import { isAuthorStep, transitions } from "./transitions.ts"

type Enter = Extract<Move, { readonly _tag: "Enter" }>

/** What a step does when it begins. */
const begin = (run: Run, phase: PhaseRun, { how, step }: Enter): Outcome => {
  switch (step) {
    case "EXECUTE":
    case "QUALITY_RETRY":
    case "AUTO_FIX":
      return outcome(askForWork(run, phase, step, how))
    case "QUALITY_CHECK":
      return outcome(startGates(run, phase))
    case "REVIEW":
      return outcome(startReview(run, phase, how._tag === "fresh"))
    case "CHECKPOINT":
      return phase.checkpoint === undefined ? outcome([]) : openCheckpoint(run, phase, phase.checkpoint)
    case "PHASE_GATE":
      return startPhaseGate(run, phase)
    default:
      return outcome([])
  }
}

const attemptOf = (phase: PhaseRun | undefined, step: Step) =>
  step === "QUALITY_CHECK" ? (phase?.gateRuns ?? 0) + 1 : (phase?.visits[step] ?? 0) + 1

const enterStep = (run: Run, move: Enter): Outcome => {
  const limit = limitAt(run, move.step)
  if (limit !== undefined) return outcome([], escalate(limit))
  const { phase } = run
  if (phase === undefined || !isAuthorStep(move.step)) return startStep(run, move)
  const session = sessionOf(run, phase, move)
  if (session.choice === "continue" || move.how._tag !== "known") return startStep(run, move, session)
  // Not without what is done: the record is written and verified first, and the step begins after it.
  return isContinued(phase)
    ? beginContinuation(run, phase, continuationOf(run, phase, move.step, move.cause, session))
    : startStep(run, { ...move, how: fresh }, session)
}

/** Continue or fresh: as it was chosen, or else by the policy. */
const sessionOf = (run: Run, phase: PhaseRun, { cause, how }: Enter): SessionDecision => {
  if (how._tag === "known") return sessionFor(run, phase, "step")
  if (how.session !== undefined) return how.session
  const choice = how._tag === "fresh" ? "fresh" : "continue"
  return decided(run, phase, choice, transitions[cause].when)
}

const startStep = (run: Run, move: Enter, session?: SessionDecision): Outcome => {
  const started: RunEvent = {
    _tag: "StepStarted",
    ...placeOf(run),
    step: move.step,
    attempt: attemptOf(run.phase, move.step),
    cause: move.cause,
    ...(session === undefined ? {} : { session })
  }
  const after = evolveStarted(run, started)
  if (after.phase === undefined) return outcome([started])
  const begun = begin(after, after.phase, move)
  return { ...begun, events: [started, ...begun.events] }
}

/** One who knows nothing of it is not told what is wrong before what was done is verified. */
const tell = (run: Run, move: Extract<Move, { readonly _tag: "Tell" }>): Outcome => {
  const { phase, step = "EXECUTE" } = run
  if (phase === undefined) return outcome([])
  return phase.author?.state === "usable" || !isContinued(phase)
    ? outcome(tellAuthor(run, phase, step, move))
    : outcome([], { _tag: "Retry", retry: { step }, cause: "session-lost" })
}

const perform = (run: Run, move: Move): Outcome => {
  switch (move._tag) {
    case "Enter":
      return enterStep(run, move)
    case "Escalate":
      return raise(run, move.trouble)
    case "Retry":
      return retryFresh(run, move.retry, move.cause)
    case "Tell":
      return tell(run, move)
    case "NextPhase":
      return startNextPhase(run)
    case "NextPrompt":
      return outcome(nextPrompt(run))
    case "Abort":
      return outcome(abortRun(run, move.reason))
  }
}

/** Everything that a decision leads to, in order. */
export const drive = (run: Run, { events, move }: Outcome): RunEvents => {
  if (move === undefined) return events
  const after = events.reduce(evolveStarted, run)
  return [...events, ...drive(after, perform(after, move))]
}
