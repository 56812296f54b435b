/** A turn is asked for: in a new session, in an existing one, or as a plain "continue" (sessions: Turns). */
import { type Delivery, Refusal } from "@reprise/actor"
import { type SessionCommand, SessionId } from "@reprise/protocol"
import { Result } from "effect"
import { type Failure, turnRefused } from "./endTurn.ts"
import type { EventOf, JournalEvent, SessionDetails, TurnRequest } from "./events.ts"
import { notAbsolute } from "./guards.ts"
import { readJsonSchema } from "./jsonSchema.ts"
import { continuePrompt, withGuidance } from "./prompts.ts"
import { hasEnded, placeOf, type Session } from "./Session.ts"

type Command<Tag extends SessionCommand["_tag"]> = Extract<SessionCommand, { readonly _tag: Tag }>
type Decision = Result.Result<ReadonlyArray<JournalEvent>, Refusal>

const known = (session: Session, turnId: string) =>
  session.turn?.request.turnId === turnId || session.pastTurns.includes(turnId)

const begin = (
  details: SessionDetails,
  turn: TurnRequest,
  how: EventOf<"TurnRequested">["begin"],
  delivery: Delivery
): EventOf<"TurnRequested"> => ({ _tag: "TurnRequested", session: details, turn, begin: how, at: delivery.now })

/** Why a session cannot be gone on with; undefined: it may be looked at. An agent knows the files of one directory. */
const unusable = (session: Session, details: SessionDetails): string | undefined => {
  if (session.status === "unknown" || session.runtimeSessionId === undefined) return "it was never opened"
  if (hasEnded(session)) return `it is ${session.status}`
  const place = session.details?.directory
  return place === details.directory ? undefined : `it belongs to ${place}, not to ${details.directory}`
}

/** A standalone session asks for its turns by itself. */
const ownTurnsOnly = (sessionId: string): Decision =>
  Result.fail(new Refusal({ reason: `Session ${sessionId} belongs to no run: answer its question, or abort it.` }))

/** What asked for a turn. */
type Asked = "StartTurn" | "ContinueSession"

/** Whoever waits for the turn is told by its failure, whoever sent the command by its refusal. */
const refused = (details: SessionDetails, asked: Asked, turnId: TurnRequest["turnId"], failure: Failure): Decision =>
  Result.succeed([
    turnRefused(details, turnId, failure),
    { _tag: "CommandRefused", ...placeOf(details), turnId, command: asked, reason: failure.message }
  ])

/** A turn in a session that should exist. Busy, gone and replaced are told apart here. */
const beginExisting = (
  session: Session,
  details: SessionDetails,
  asked: Asked,
  turn: TurnRequest,
  delivery: Delivery
): Decision => {
  if (session.turn !== undefined) {
    const message = `Session ${details.sessionId} is busy with turn ${session.turn.request.turnId}: wait for its end.`
    return refused(details, asked, turn.turnId, { kind: "other", message, sessionUsable: true })
  }
  const reason = unusable(session, details)
  if (reason === undefined) return Result.succeed([begin(details, turn, "inspect", delivery)])
  if (turn.onMissing === "fail") {
    const message = `Session ${details.sessionId} cannot be continued: ${reason}. Go on in a new session.`
    return refused(details, asked, turn.turnId, { kind: "session-missing", message, sessionUsable: false })
  }
  const old = session.runtimeSessionId ?? details.sessionId
  return Result.succeed([
    begin(details, turn, "open", delivery),
    { _tag: "SessionLost", turnId: turn.turnId, old, reason }
  ])
}

export const startTurn = (session: Session, command: Command<"StartTurn">, delivery: Delivery): Decision => {
  if (known(session, command.turnId)) return Result.succeed([])
  const isNew = command.session._tag === "New"
  const sessionId = command.session._tag === "New" ? SessionId.make(delivery.key) : command.session.sessionId
  if (sessionId !== delivery.key) {
    return Result.fail(new Refusal({ reason: `This is session ${delivery.key}, not ${sessionId}.` }))
  }
  if (session.details?.standalone === true) return ownTurnsOnly(sessionId)
  if (session.details !== undefined && session.details.runId !== command.runId) {
    const reason = `Session ${sessionId} belongs to run ${session.details.runId}, not to ${command.runId}.`
    return Result.fail(new Refusal({ reason }))
  }
  const wrongPlace = notAbsolute(command.directory)
  if (wrongPlace !== undefined) return wrongPlace
  const form = typeof command.report === "string" ? undefined : readJsonSchema(command.report)
  if (form !== undefined && Result.isFailure(form)) {
    return Result.fail(new Refusal({ reason: `The JSON schema of the report cannot be used: ${form.failure}` }))
  }
  const remembered = isNew ? undefined : session.details
  const details: SessionDetails = {
    sessionId,
    runId: command.runId,
    role: command.role,
    runtime: command.runtime,
    ...(command.model === undefined ? {} : { model: command.model }),
    // An existing session is asked for by its id alone: it stays where it works.
    directory: command.directory === "" ? (remembered?.directory ?? "") : command.directory,
    // A session lives where its files and its runtime are, whatever host a later turn is asked of.
    host: remembered === undefined || hasEnded(session) ? command.host : remembered.host,
    permissions: command.permissions,
    title: command.title ?? remembered?.title ?? `${command.role} of ${command.runId}`,
    ...(command.phase === undefined ? {} : { phase: command.phase }),
    ...(command.step === undefined ? {} : { step: command.step }),
    report: command.report,
    ...(command.prompts === undefined ? {} : { prompts: command.prompts }),
    limits: command.limits,
    wholePrompt: command.freshPrompt ?? remembered?.wholePrompt ?? command.prompt
  }
  const turn: TurnRequest = {
    turnId: command.turnId,
    prompt: command.prompt,
    freshPrompt: command.freshPrompt ?? command.prompt,
    onMissing: command.onMissing,
    reason: command.reason ?? "continue"
  }
  if (!isNew) return beginExisting(session, details, command._tag, turn, delivery)
  if (session.status === "unknown") return Result.succeed([begin(details, turn, "open", delivery)])
  const message = `Session ${sessionId} exists already (${session.status}): a new session needs an id of its own.`
  return refused(details, command._tag, command.turnId, { kind: "other", message, sessionUsable: false })
}

/** Goes on in the session as it is, with what its last turn was asked for. */
export const continueSession = (
  session: Session,
  command: Command<"ContinueSession">,
  delivery: Delivery
): Decision => {
  if (known(session, command.turnId)) return Result.succeed([])
  if (session.details === undefined) {
    return Result.fail(new Refusal({ reason: `There is no session ${command.sessionId} to continue.` }))
  }
  if (session.details.standalone === true) return ownTurnsOnly(command.sessionId)
  const details: SessionDetails = {
    ...session.details,
    ...(command.phase === undefined ? {} : { phase: command.phase }),
    ...(command.step === undefined ? {} : { step: command.step })
  }
  const turn: TurnRequest = {
    turnId: command.turnId,
    prompt: continuePrompt(command.guidance),
    freshPrompt: withGuidance(details.wholePrompt, command.guidance),
    onMissing: command.onMissing,
    reason: "continue"
  }
  return beginExisting(session, details, command._tag, turn, delivery)
}
