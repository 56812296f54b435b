/** What a report must be about to be looked at. Each guard gives what it found. */
import { Refusal } from "@reprise/actor"
import { Result } from "effect"
import type { EventOf, JournalEvent, SessionDetails } from "./events.ts"
import { hasEnded, type OpenTurn, type Session } from "./Session.ts"

export type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

/** An input that does not concern the session as it is. */
export const nothing: Decision = Result.succeed([])

export const refuse = (reason: string): Decision => Result.fail(new Refusal({ reason }))

/** Where an agent is to work; empty: where its runtime does. Anything else would depend on who reads it. */
export const notAbsolute = (directory: string): Decision | undefined =>
  directory === "" || directory.startsWith("/")
    ? undefined
    : refuse(`The directory '${directory.slice(0, 200)}' is not an absolute path.`)

export interface AtTurn {
  readonly details: SessionDetails
  readonly turn: OpenTurn
}

export interface AtPrompt extends AtTurn {
  readonly prompt: EventOf<"PromptPlanned">
}

/** The open turn if it is this one and has come this far. */
export const openTurnAt = (session: Session, turnId: string, stage: OpenTurn["stage"]): AtTurn | undefined => {
  const { details, turn } = session
  return details !== undefined && turn?.request.turnId === turnId && turn.stage === stage
    ? { details, turn }
    : undefined
}

/** The prompt that is under way if it is the n-th of this turn. */
export const openPromptAt = (session: Session, of: { turnId: string; number: number }): AtPrompt | undefined => {
  const at = openTurnAt(session, of.turnId, "prompting")
  return at?.turn.prompt?.number === of.number ? { ...at, prompt: at.turn.prompt } : undefined
}

/**
 * What becomes of a report that came too late: the first one won. After an abort it is expected and nobody wants to
 * know; else it is refused, and so recorded.
 */
export const late = (session: Session, turnId: string): Decision =>
  hasEnded(session) || session.status === "unknown"
    ? nothing
    : refuse(`A report of turn ${turnId} came after that turn had moved on: it changes nothing.`)
