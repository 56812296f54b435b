/** What the agent is seen doing: only transitions are recorded (sessions: Auto-resume). */
import type { Delivery } from "@reprise/actor"
import { Result } from "effect"
import { type Decision, nothing, openPromptAt } from "./guards.ts"
import type { SessionReport } from "./messages.ts"
import { hasEnded, placeOf, type Session } from "./Session.ts"

type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { readonly _tag: Tag }>

/** The agent works on a prompt of ours: told once per turn, however many prompts and attempts it takes. */
export const recordWorking = (session: Session, report: Report<"RecordWorking">, delivery: Delivery): Decision => {
  const at = openPromptAt(session, report)
  if (at === undefined || at.turn.working) return nothing
  const { evidence, turnId } = report
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now },
    { _tag: "AgentWorking", ...placeOf(at.details, turnId), cause: "turn", evidence }
  ])
}

/** A human, or the agent by itself. While a turn of ours is open it is that turn's business. */
export const reportActivity = (session: Session, report: Report<"ReportActivity">, delivery: Delivery): Decision => {
  const { details, turn } = session
  if (details === undefined || hasEnded(session) || turn !== undefined || session.foreign) return nothing
  const { cause, evidence } = report
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now },
    { _tag: "AgentWorking", ...placeOf(details), cause, evidence }
  ])
}

/** An idle agent asks nothing: what it asked before went with the runtime's memory of it. */
export const reportIdle = (session: Session, delivery: Delivery): Decision => {
  const { details, turn } = session
  if (details === undefined || hasEnded(session) || turn !== undefined || !session.foreign) return nothing
  return Result.succeed([
    { _tag: "ActivityNoted", at: delivery.now },
    ...session.prompts.map(({ promptId }) => ({ _tag: "PromptClosed" as const, promptId })),
    { _tag: "AgentIdle", ...placeOf(details) }
  ])
}
