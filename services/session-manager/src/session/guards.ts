/** What decisions are made of: the guards that several families share, and their answers. */
import { type Delivery, isSentBy, type Refusal, refusing } from "@reprise/actor"
import { isStandalone } from "@reprise/protocol"
import { Result } from "effect"
import type { EventOf, JournalEvent, SessionDetails } from "./journal.ts"
import { hasEnded, type OpenTurn, type Session } from "./state.ts"

export type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

/** The input does not concern the session as it is. */
export const nothing: Decision = Result.succeed([])

export const refuse = refusing("session-manager")

type Guard<Found> = Result.Result<Found, Refusal>

/** A command is decided only by the session that it names. */
export const requireAddressedHere = <Id extends string>(sessionId: Id, { key }: Delivery): Guard<Id> =>
  sessionId === key ? Result.succeed(sessionId) : refuse("misaddressed", `This is session ${key}, not ${sessionId}.`)

/** Empty is allowed: the directory of the runtime. A relative path would depend on who resolves it. */
export const requireAbsoluteDirectory = (directory: string): Guard<string> =>
  directory === "" || directory.startsWith("/")
    ? Result.succeed(directory)
    : refuse("invalid", `The directory '${directory.slice(0, 200)}' is not an absolute path.`)

/** The turns of a standalone session come from its own run alone. */
export const requireOwnRun = ({ details }: Session, { id }: Delivery): Guard<void> =>
  details === undefined || !isStandalone(details) || isSentBy("orchestrator", details.runId, id)
    ? Result.void
    : refuse("standalone", `Session ${details.sessionId} belongs to no run: answer its question, or abort it.`)

/** Whether the turn was requested before. */
export const isKnownTurn = (session: Session, turnId: string): boolean =>
  session.turn?.request.turnId === turnId || session.pastTurnIds.includes(turnId)

export interface CurrentTurn {
  readonly details: SessionDetails
  readonly turn: OpenTurn
}

export interface CurrentPrompt extends CurrentTurn {
  readonly prompt: EventOf<"PromptPrepared">
}

/** The open turn, if it is this one and has reached this stage. */
export const currentTurn = (session: Session, turnId: string, stage: OpenTurn["stage"]): CurrentTurn | undefined => {
  const { details, turn } = session
  return details !== undefined && turn?.request.turnId === turnId && turn.stage === stage
    ? { details, turn }
    : undefined
}

/** The prompt that is under way, if it is the n-th of this turn. */
export const currentPrompt = (
  session: Session,
  of: { readonly turnId: string; readonly number: number }
): CurrentPrompt | undefined => {
  const current = currentTurn(session, of.turnId, "prompting")
  return current?.turn.prompt?.number === of.number ? { ...current, prompt: current.turn.prompt } : undefined
}

/**
 * The first report of a turn wins. After the session's end, and while the turn is interrupted, a further one is expected,
 * and ignored; else it is refused.
 */
export const refuseOutdated = (session: Session, turnId: string): Decision =>
  hasEnded(session) || session.status === "unknown" || session.turn?.stage === "interrupting"
    ? nothing
    : refuse("stale", `This report of turn ${turnId} came after the turn had moved on; it changes nothing.`)
