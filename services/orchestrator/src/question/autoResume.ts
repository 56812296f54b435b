/**
 * A waiting step goes on by itself when its agent is seen working again: the question is withdrawn, and the agent is
 * asked for its report once it is idle (docs/design/sessions.md#auto-resume).
 */
import type { SessionId, Step, Words } from "@reprise/protocol"
import { askForReport } from "../author/ask.ts"
import { endings, noteTakenOver, type SessionEnd } from "../author/session.ts"
import { aboutCheckpoint } from "../prompt/continuation.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { enter, escalate, type Outcome, outcome } from "../run/moves.ts"
import { concerns, type Question, type Retry } from "../run/question.ts"
import { isReviewer } from "../run/reviewer.ts"
import { livesInSession, locationOf } from "../run/standalone.ts"
import type { PhaseRun, Run } from "../run/state.ts"
import { isAuthorStep } from "../run/transitions.ts"
import { grant } from "./retry.ts"

/** `cause`: absent where it began before the question was asked. */
type Activity = Pick<InputOf<"AgentWorking">, "sessionId"> & Partial<Pick<InputOf<"AgentWorking">, "cause">>

/**
 * A human can decide in the author's session. What a human is to verify or to do is answered at the gate only, and the
 * question comes back once the agent is idle (docs/design/continuation.md#checkpoint-types).
 */
const leaveCheckpoint = ({ phase, updatedAt: at }: Run, { cause }: Activity): RunEvents => {
  if (phase?.checkpoint === undefined) return []
  const { description: question, task, type } = phase.checkpoint.report
  if (cause !== "human" || type === "human-verify" || type === "human-action") return [{ _tag: "CheckpointLeft" }]
  const answer = "resolved in the author's own session"
  const decision = { task, type, question, answer, at }
  const words: Words = { from: "human", for: "both", phase: phase.id, about: aboutCheckpoint(task), decision, text: "" }
  return [
    { _tag: "CheckpointLeft", resolution: answer },
    { _tag: "WordsKept", words }
  ]
}

/** What somebody does in the author's session is an author's step, whatever step asked; in the reviewer's, a review. */
const stepOf = (run: Run, { step, withGuidance }: Retry, sessionId: SessionId): Step => {
  if (isReviewer(run, sessionId)) return "REVIEW"
  if (isAuthorStep(step)) return step
  return withGuidance ?? (run.phase?.verified === undefined ? "EXECUTE" : "AUTO_FIX")
}

/** What was in the way of the step is granted. A verdict that a human has talked about with the reviewer is no new cycle. */
const grantTo = (run: Run, retry: Retry, sessionId: SessionId): RunEvents =>
  isReviewer(run, sessionId) ? [{ _tag: "LimitRaised", limit: "review-cycles", step: "REVIEW" }] : grant(retry)

/** The question is moot. Its step goes on, and what was counted against it is forgotten. */
export const agentWorking = (run: Run, question: Question, activity: Activity): Outcome => {
  const { sessionId } = activity
  const { kind, retry } = question
  const withdrawn: RunEvent = {
    _tag: "QuestionWithdrawn",
    escalationId: question.ask.escalationId,
    reason: "agent-working"
  }
  const resumed: RunEvent = {
    _tag: "StepResumed",
    ...locationOf(run),
    step: kind === "prompt" ? retry.step : stepOf(run, retry, sessionId),
    sessionId,
    cause: "agent-working"
  }
  return kind === "prompt"
    ? outcome([withdrawn, resumed], { _tag: "NextPrompt" })
    : outcome([withdrawn, ...leaveCheckpoint(run, activity), ...grantTo(run, retry, sessionId), resumed])
}

/** Somebody is at work already in a session that the newest question names: it is moot as soon as it is asked. */
export const withdrawIfWorking = (run: Run): RunEvents => {
  const { pending, working } = run
  if (pending._tag !== "Answer") return []
  const { question } = pending
  const sessionId = working.find((id) => concerns(question, id))
  return sessionId === undefined ? [] : agentWorking(run, question, { sessionId }).events
}

/** Records who works in the sessions of the phase outside of turns: a question may be asked later. */
export const noteWorking = (run: Run, { cause, sessionId }: InputOf<"AgentWorking">): RunEvents => {
  const { phase, working } = run
  if (cause === "turn") return noteTakenOver(run, { sessionId })
  const isOwn = livesInSession(run) || phase?.sessions.includes(sessionId) === true || isReviewer(run, sessionId)
  return !isOwn || working.includes(sessionId) ? [] : [{ _tag: "WorkSeen", sessionId, working: true }]
}

export const agentIdle = (run: Run, phase: PhaseRun, event: InputOf<"AgentIdle">): Outcome => {
  const { sessionId } = event
  const rested: RunEvent = { _tag: "AgentRested", sessionId }
  if (isReviewer(run, sessionId)) return outcome([rested], enter("REVIEW", "reviewer-idle"))
  return outcome([rested, ...askForReport(run, phase, run.step ?? "EXECUTE", sessionId)])
}

export const agentGone = ({ sessionId }: InputOf<"AgentGone">): Outcome =>
  agentLost(sessionId, `The agent of session ${sessionId} is gone.`, "its agent is gone")

/** The session in which the agent works by itself has ended: no report will come from it. */
export const agentEnded = ({ _tag, sessionId }: SessionEnd): Outcome =>
  agentLost(sessionId, `The agent worked in session ${sessionId} when that ended: ${endings[_tag]}.`, endings[_tag])

const agentLost = (sessionId: SessionId, reason: string, noContinue: string): Outcome =>
  outcome([{ _tag: "AgentRested", sessionId }], escalate({ origin: "runtime", reason, noContinue }))

/**
 * The same while the run is paused: the question is moot, and the run stays paused. What the agent reports when it is
 * idle is kept until the run is resumed.
 */
export const agentWorkingInPause = (run: Run, question: Question, event: InputOf<"AgentWorking">): RunEvents => {
  const { sessionId } = event
  const { ask, kind, retry } = question
  const withdrawn: RunEvent = {
    _tag: "QuestionWithdrawn",
    escalationId: ask.escalationId,
    reason: "agent-working"
  }
  return kind === "prompt"
    ? [withdrawn]
    : [
        withdrawn,
        ...leaveCheckpoint(run, event),
        ...grantTo(run, retry, sessionId),
        { _tag: "AgentTookOver", sessionId, step: stepOf(run, retry, sessionId) }
      ]
}
