/** What is recorded of an event whether or not it moves the machine: what turns cost, which sessions there are. */
import { type Role, reviewKey } from "@reprise/protocol"
import type { RunEvents } from "./Event.ts"
import type { InputOf, RunInput } from "./Input.ts"
import type { Run } from "./Run.ts"
import { withoutContinue } from "./run/escalate.ts"

const roleOf = (run: Run, { phase, role, turnId }: InputOf<"TurnCompleted" | "TurnFailed">): Role =>
  role ?? (phase !== undefined && turnId.startsWith(`${reviewKey(run.runId, phase)}-`) ? "reviewer" : "author")

/** Once for each turn, however often and late it is reported. */
const countTurn = (run: Run, event: InputOf<"TurnCompleted" | "TurnFailed">): RunEvents =>
  run.counted.includes(event.turnId)
    ? []
    : [
        {
          _tag: "TurnCounted",
          turnId: event.turnId,
          ...(event.phase === undefined ? {} : { phase: event.phase }),
          role: roleOf(run, event),
          tokens: event.tokens,
          cost: event.cost
        }
      ]

type SessionEnd = InputOf<"SessionExpired" | "SessionCompleted" | "SessionAborted" | "SessionArchived">

const endings: Readonly<Record<SessionEnd["_tag"], string>> = {
  SessionExpired: "the session has expired",
  SessionCompleted: "the session was completed",
  SessionAborted: "the session was aborted",
  SessionArchived: "the session was archived"
}

/** A session that has ended is not continued: an open question that offers it is changed. */
const sessionEnded = (run: Run, { _tag, sessionId }: SessionEnd): RunEvents => {
  const { pending, phase } = run
  const alive = phase?.sessions.includes(sessionId) === true
  const newest = phase?.author?.sessionId === sessionId && phase.author.state !== "ended"
  if (!alive && !newest) return []
  const why = endings[_tag]
  const question = pending._tag === "Answer" ? pending.question : undefined
  const offered = question?.kind === "step" && question.ask.sessionId === sessionId
  return [
    { _tag: "SessionLost", sessionId, why },
    ...(question !== undefined && offered
      ? [{ _tag: "QuestionChanged" as const, question: withoutContinue(question, why) }]
      : [])
  ]
}

export const bookkeeping = (run: Run, input: RunInput): RunEvents => {
  switch (input._tag) {
    case "TurnCompleted":
    case "TurnFailed":
      return countTurn(run, input)
    case "SessionCreated":
      return [{ _tag: "SessionSeen", kind: "created", sessionId: input.sessionId }]
    case "SessionReused":
      return [
        {
          _tag: "SessionSeen",
          kind: "reused",
          sessionId: input.sessionId,
          ...(input.turnId === undefined ? {} : { turnId: input.turnId }),
          reason: input.reason
        }
      ]
    case "SessionReplaced":
      return [{ _tag: "SessionSeen", kind: "replaced", sessionId: input.sessionId, reason: input.reason }]
    case "SessionExpired":
    case "SessionCompleted":
    case "SessionAborted":
    case "SessionArchived":
      return sessionEnded(run, input)
    case "CommandRefused":
      return [{ _tag: "Noted", text: `${input.command} was refused: ${input.reason}` }]
    default:
      return []
  }
}
