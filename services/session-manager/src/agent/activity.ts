/**
 * Decides who caused an agent's activity (our turn, a human, or the agent itself), and which activity is recorded
 * and published: only transitions between working and idle are (docs/design/sessions.md#auto-resume).
 */
import type { Delivery } from "@reprise/actor"
import { defined, type SessionCommand } from "@reprise/protocol"
import { Duration, Result } from "effect"
import { echoMs } from "../session/actions.ts"
import { currentPrompt, type Decision, nothing, refuse } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { EventOf } from "../session/journal.ts"
import { changeTurn, eventFields, hasEnded, type Session } from "../session/state.ts"
import { countOthers } from "../session/usage.ts"

type HandBack = Extract<SessionCommand, { readonly _tag: "HandBack" }>

export interface SeenActivity {
  /** The prompt that caused it, where the runtime tells. */
  readonly causePromptId?: string
  /** That prompt was one of ours. */
  readonly causeIsOurs: boolean
  /** Our prompt is under way in the session. */
  readonly live: boolean
  /** Since our newest prompt in the session ended; undefined: there was none. */
  readonly msSinceOurs?: number
}

/**
 * Whether our turn, a human or the agent itself caused the activity. `unknown`: it follows so soon after our prompt
 * that it may still belong to it; it resumes nothing.
 */
export const attribute = (seen: SeenActivity): "ours" | "human" | "agent" | "unknown" => {
  if (seen.causePromptId !== undefined) return seen.causeIsOurs ? "ours" : "human"
  if (seen.live) return "ours"
  return seen.msSinceOurs !== undefined && seen.msSinceOurs < echoMs ? "unknown" : "agent"
}

/** How long to wait until the grace has passed since the newest activity. A clock that was set back changes little. */
export const graceLeft = (activeMs: number, nowMs: number, grace: Duration.Duration): Duration.Duration => {
  const graceMs = Duration.toMillis(grace)
  return Duration.millis(Math.min(graceMs, Math.max(0, activeMs + graceMs - nowMs)))
}

/** The agent works on our prompt: published once per turn, however many prompts and attempts it takes. */
export const recordWorking = (session: Session, report: Report<"RecordWorking">, delivery: Delivery): Decision => {
  const current = currentPrompt(session, report)
  if (current === undefined || current.turn.workingAnnounced) return nothing
  const { evidence, turnId } = report
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now },
    { _tag: "AgentWorking", ...eventFields(current.details, turnId), cause: "turn", evidence }
  ])
}

/** A human is at work in the session, or the agent by itself. Ignored while our turn is open. */
export const reportActivity = (session: Session, report: Report<"ReportActivity">, delivery: Delivery): Decision => {
  const { details, turn, workingOutsideTurn } = session
  if (details === undefined || hasEnded(session) || turn !== undefined || workingOutsideTurn) return nothing
  const { cause, evidence } = report
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now },
    { _tag: "AgentWorking", ...eventFields(details), cause, evidence }
  ])
}

/** A human leaves the session: nobody waits any longer for what they might say next. */
export const handBack = (session: Session, { sessionId }: HandBack, delivery: Delivery): Decision => {
  if (session.details === undefined) return refuse("not-found", `There is no session ${sessionId} to hand back.`)
  if (hasEnded(session) || !(session.workingOutsideTurn || session.turn !== undefined)) return nothing
  return Result.succeed([{ _tag: "HandedBack", at: delivery.now }])
}

/** An idle agent asks nothing: its open questions were lost when the runtime restarted. */
export const reportIdle = (
  session: Session,
  { promptId, total }: Report<"ReportIdle">,
  delivery: Delivery
): Decision => {
  const { details, turn, workingOutsideTurn } = session
  if (details === undefined || hasEnded(session) || turn !== undefined || !workingOutsideTurn) return nothing
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now, ...defined({ promptId }) },
    ...session.agentQuestions.map(({ promptId }) => ({ _tag: "AgentQuestionClosed" as const, promptId })),
    ...countOthers(session, details, total),
    { _tag: "AgentIdle", ...eventFields(details) }
  ])
}

/** The fold of `AgentWorking`. */
export const agentWorking = (session: Session, event: EventOf<"AgentWorking">): Session => {
  const workingOutsideTurn = event.cause !== "turn" && session.turn === undefined
  const active: Session = { ...session, status: "active", workingOutsideTurn }
  return event.cause === "turn" && event.turnId !== undefined
    ? changeTurn(active, event.turnId, (turn) => ({ ...turn, workingAnnounced: true }))
    : active
}
