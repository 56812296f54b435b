/** Carries out moves, one after the other, until a decision leads to none: every transition passes here. */
import { defined, type SessionDecision, type Step, type StepAgent } from "@reprise/protocol"
import { agentForStep, hasOneAgent } from "../agents/agentOf.ts"
import { chosenSession, reviewerSessionFor, sessionFor } from "../agents/session.ts"
import { askForWork, tellAuthor } from "../author/ask.ts"
import { openCheckpoint } from "../checkpoint/checkpoint.ts"
import { beginContinuation, continuationOf, verifyAgain } from "../checkpoint/continuation.ts"
import { limitReachedAt } from "../limits/limits.ts"
import { startNextPhase, startPhaseGate } from "../phase/finish.ts"
import { isContinued } from "../prompt/continuation.ts"
import { startGates } from "../quality/gates.ts"
import { askNextPrompt } from "../question/agentPrompt.ts"
import { escalateOrRetry } from "../question/escalate.ts"
import { retryFresh } from "../question/retry.ts"
import { startReview } from "../review/review.ts"
import { abortRun } from "../run/end.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { after, escalate, fresh, type Move, type Outcome, outcome } from "../run/moves.ts"
import { locationOf } from "../run/standalone.ts"
import type { PhaseRun, Run, RunState } from "../run/state.ts"
import { isAuthorStep, transitions } from "../run/transitions.ts"
import { checkTables } from "./checkTables.ts"
import { evolve, evolveRun } from "./evolve.ts"

type Enter = Extract<Move, { readonly _tag: "Enter" }>

/** What a step does when it begins. */
const beginStep = (run: Run, phase: PhaseRun, { step, use }: Enter): Outcome => {
  switch (step) {
    case "EXECUTE":
    case "QUALITY_RETRY":
    case "AUTO_FIX":
      return outcome(askForWork(run, phase, step, use))
    case "QUALITY_CHECK":
      return outcome(startGates(run, phase))
    case "REVIEW":
      return outcome(startReview(run, phase, freshReview(run, phase, use)))
    case "CHECKPOINT":
      if (phase.checkpoint !== undefined) return openCheckpoint(run, phase, phase.checkpoint)
      // The hand-over that follows it is under way, or its limit has stopped it.
      return phase.continuation === undefined
        ? outcome(verifyAgain(run, phase))
        : beginContinuation(run, phase, phase.continuation)
    case "PHASE_GATE":
      return startPhaseGate(run, phase)
    // Begun elsewhere: by the start of the run, a question, and the approval of a phase.
    case "PREPARE":
    case "ESCALATE":
    case "PHASE_COMPLETE":
      return outcome([])
  }
}

/** Why a review begins in a new session; undefined: the reviewer goes on in its own, if it has one. */
const freshReview = (run: Run, phase: PhaseRun, use: Enter["use"]): string | undefined => {
  if (use._tag === "fresh") return "the review starts over"
  const decision = reviewerSessionFor(run, phase, agentForStep(run, phase, "REVIEW", use))
  return decision?.choice === "fresh" ? decision.why : undefined
}

/** Gate runs are numbered through the phase, other steps by their visits. */
const attemptOf = (phase: PhaseRun, step: Step) =>
  step === "QUALITY_CHECK" ? phase.gateRuns + 1 : (phase.visits[step] ?? 0) + 1

const enterStep = (run: Run, phase: PhaseRun, move: Enter): Outcome => {
  const limit = limitReachedAt(run, move.step)
  if (limit !== undefined) return outcome([], escalate(limit))
  if (move.step === "REVIEW") return enterReview(run, phase, move)
  return isAuthorStep(move.step) ? enterWork(run, phase, move) : startStep(run, phase, move, {})
}

const enterReview = (run: Run, phase: PhaseRun, move: Enter): Outcome => {
  const agent = agentForStep(run, phase, move.step, move.use)
  const session = move.use._tag === "current" ? reviewerSessionFor(run, phase, agent) : undefined
  return startStep(run, phase, move, { agent, session })
}

/** Who goes on from a host that is gone begins in a new runtime session anyway, so it is not replaced by a fresh author. */
const withMoved = (phase: PhaseRun, move: Enter): Enter =>
  phase.author?.state === "moved" && move.use._tag === "fresh" && move.use.decision === undefined
    ? { ...move, use: { _tag: "current" } }
    : move

const enterWork = (run: Run, phase: PhaseRun, asked: Enter): Outcome => {
  const move = withMoved(phase, asked)
  const agent = agentForStep(run, phase, move.step, move.use)
  const session = sessionDecision(run, phase, move, agent)
  if (session.choice === "continue" || move.use._tag !== "current") {
    return startStep(run, phase, move, { agent, session })
  }
  // A fresh author needs the record of what is done: it is written and verified before the step begins.
  return isContinued(phase)
    ? beginContinuation(run, phase, continuationOf(run, phase, move.step, move.cause, session))
    : startStep(run, phase, { ...move, use: fresh }, { agent, session })
}

/** Continue or fresh: as a human or the policy has chosen already, or else as the policy chooses now. */
const sessionDecision = (run: Run, phase: PhaseRun, { cause, use }: Enter, agent: StepAgent): SessionDecision => {
  if (use._tag === "current") return sessionFor(run, phase, "step", agent)
  if (use.decision !== undefined) return use.decision
  const choice = use._tag === "fresh" ? "fresh" : "continue"
  return chosenSession(run, phase, choice, transitions[cause].when)
}

/** Who does a step, and in which session. */
interface Staffing {
  readonly agent?: StepAgent
  readonly session?: SessionDecision | undefined
}

const startStep = (run: Run, phase: PhaseRun, move: Enter, { agent, session }: Staffing): Outcome => {
  const started: RunEvent = {
    _tag: "StepStarted",
    ...locationOf(run),
    step: move.step,
    attempt: attemptOf(phase, move.step),
    cause: move.cause,
    ...defined({ session }),
    ...(agent === undefined || hasOneAgent(run) ? {} : { agent })
  }
  const begun = evolveRun(run, started)
  return after([started], beginStep(begun, begun.phase ?? phase, move))
}

/** A fresh author gets the verified record before it is told what was wrong. */
const tell = (run: Run, phase: PhaseRun, move: Extract<Move, { readonly _tag: "Tell" }>): Outcome => {
  const { step = "EXECUTE" } = run
  return phase.author?.state === "usable" || !isContinued(phase)
    ? outcome(tellAuthor(run, phase, step, move))
    : outcome([], { _tag: "Retry", retry: { step }, cause: "session-lost" })
}

/** Steps, and what an author is told in them, belong to a phase. */
const inPhase = (run: Run, act: (phase: PhaseRun) => Outcome): Outcome =>
  run.phase === undefined ? outcome([]) : act(run.phase)

const perform = (run: Run, move: Move): Outcome => {
  switch (move._tag) {
    case "Enter":
      return inPhase(run, (phase) => enterStep(run, phase, move))
    case "Escalate":
      return escalateOrRetry(run, move.request)
    case "Retry":
      return retryFresh(move.retry, move.cause)
    case "Tell":
      return inPhase(run, (phase) => tell(run, phase, move))
    case "NextPhase":
      return startNextPhase(run)
    case "NextPrompt":
      return outcome(askNextPrompt(run))
    case "Abort":
      return outcome(abortRun(run, move.reason))
    case "Decide":
      return move.decide(run)
  }
}

const advance = (state: RunState, event: RunEvent): RunState => {
  if (state._tag === "Run") checkTables(state, event)
  return evolve(state, event)
}

/** Everything that a decision leads to, in order. Throws where the tables of the run machine lack a step of it. */
export const applyMoves = (state: RunState, { events, move }: Outcome): RunEvents => {
  const reached = events.reduce(advance, state)
  return move === undefined || reached._tag === "NoRun"
    ? events
    : [...events, ...applyMoves(reached, perform(reached, move))]
}
