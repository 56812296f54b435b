/** A turn is requested: in a new session, in an existing one, or as a plain "continue" (docs/design/sessions.md#turns). */
import type { Delivery, Refusal } from "@reprise/actor"
import {
  defined,
  type RefusalCode,
  type ReportForm,
  type RunId,
  type SessionCommand,
  SessionId
} from "@reprise/protocol"
import { Result } from "effect"
import { continuePrompt, withGuidance } from "../prompts.ts"
import {
  type Decision,
  isKnownTurn,
  nothing,
  refuse,
  requireAbsoluteDirectory,
  requireAddressedHere,
  requireOwnRun
} from "../session/guards.ts"
import type { EventOf, SessionDetails, TurnRequest } from "../session/journal.ts"
import { eventFields, hasEnded, type OpenTurn, type Session } from "../session/state.ts"
import { type TurnFailure, turnFailed, turnNotBegun } from "./endTurn.ts"
import { mayReplaceEnded } from "./replace.ts"
import { readJsonSchema } from "./reportSchema.ts"

type Command<Tag extends SessionCommand["_tag"]> = Extract<SessionCommand, { readonly _tag: Tag }>
type TurnCommand = Command<"StartTurn"> | Command<"ContinueSession">

const requireSameRun = ({ details }: Session, runId: RunId): Result.Result<void, Refusal> =>
  details === undefined || details.runId === runId
    ? Result.void
    : refuse("misaddressed", `Session ${details.sessionId} belongs to run ${details.runId}, not to ${runId}.`)

const requireUsableForm = (report: ReportForm): Result.Result<void, Refusal> => {
  const form = typeof report === "string" ? undefined : readJsonSchema(report)
  return form === undefined || Result.isSuccess(form)
    ? Result.void
    : refuse("invalid", `The JSON schema of the report cannot be used: ${form.failure}`)
}

type Code = RefusalCode<"session-manager">

/** Fails with why the session cannot be continued. An agent knows the files of one directory only. */
const requireUsableSession = (
  session: Session,
  { directory }: SessionDetails
): Result.Result<void, { readonly code: Code; readonly reason: string }> => {
  if (session.status === "unknown" || session.runtimeSessionId === undefined) {
    return Result.fail({ code: "not-found", reason: "it was never opened" })
  }
  if (hasEnded(session)) return Result.fail({ code: "ended", reason: `it is ${session.status}` })
  const own = session.details?.directory
  return own === directory
    ? Result.void
    : Result.fail({ code: "invalid", reason: `it belongs to ${own}, not to ${directory}` })
}

/** A turn that a command asks for. */
interface AskedTurn {
  readonly session: Session
  /** What the session will be like in this turn. */
  readonly details: SessionDetails
  readonly command: TurnCommand
  readonly turn: TurnRequest
  readonly delivery: Delivery
}

const requestTurn = (
  { delivery, details, turn }: AskedTurn,
  begin: EventOf<"TurnRequested">["begin"]
): EventOf<"TurnRequested"> => ({ _tag: "TurnRequested", session: details, turn, begin, at: delivery.now })

/** Whoever waits for the turn is told by its failure, whoever sent the command by its refusal. */
const refuseTurn = (
  details: SessionDetails,
  { _tag, turnId }: TurnCommand,
  code: Code,
  failure: TurnFailure
): Decision => {
  const { role: _role, ...place } = eventFields(details)
  return Result.succeed([
    turnNotBegun(details, turnId, failure),
    { _tag: "CommandRefused", ...place, turnId, command: _tag, code, reason: failure.message }
  ])
}

const refuseBusy = (details: SessionDetails, command: TurnCommand, { request }: OpenTurn): Decision => {
  const message = `Session ${details.sessionId} is busy with turn ${request.turnId}: wait for its end.`
  return refuseTurn(details, command, "busy", { kind: "other", message, sessionUsable: true })
}

/** The session keeps its id, and gets another runtime session in place of the one that it may have had. */
const startOver = (asked: AskedTurn): Decision => {
  const { command, details, session, turn } = asked
  if (session.turn !== undefined) return refuseBusy(details, command, session.turn)
  if (hasEnded(session)) {
    const message = `Session ${details.sessionId} cannot start over: it is ${session.status}.`
    const failure = { kind: "session-missing", message, sessionUsable: false, sessionEnded: true } as const
    return refuseTurn(details, command, "ended", failure)
  }
  const old = session.runtimeSessionId
  const requested = requestTurn(asked, "open")
  return Result.succeed(
    old === undefined
      ? [requested]
      : [requested, { _tag: "SessionLost", turnId: turn.turnId, old, reason: "a human chose to start over" }]
  )
}

const inNewSession = (asked: AskedTurn): Decision => {
  const { command, details, session, turn } = asked
  if (session.status === "unknown") return Result.succeed([requestTurn(asked, "open")])
  if (turn.fresh === true) return startOver(asked)
  const message = `Session ${details.sessionId} exists already (${session.status}): a new session needs an id of its own.`
  return refuseTurn(details, command, "exists", { kind: "other", message, sessionUsable: false })
}

/** Undefined: the turn may begin. */
const interruptedEarly = ({ details, session, turn: { turnId } }: AskedTurn): Decision | undefined => {
  const found = session.interruptedEarly.find((one) => one.turnId === turnId)
  if (found === undefined) return undefined
  const sessionUsable = Result.isSuccess(requireUsableSession(session, details))
  return Result.succeed([turnNotBegun(details, turnId, { kind: "aborted", message: found.reason, sessionUsable })])
}

const movedFrom = (command: TurnCommand) => (command._tag === "StartTurn" ? command.movedFrom : undefined)

/**
 * The session's host is gone, and what it had there is lost, whether the command to abort it has come or not: it goes on
 * in a new runtime session. Undefined: it has moved already.
 */
const onNextHost = (asked: AskedTurn): Decision | undefined => {
  const { command, delivery, session, turn } = asked
  const { agentQuestions, details: left, runtimeSessionId, turn: open } = session
  const from = movedFrom(command)
  if (from === undefined || left?.host !== from) return undefined
  const reason = `host ${from} is gone`
  const failure = { kind: "aborted", message: reason, sessionUsable: false } as const
  return Result.succeed([
    ...(open === undefined ? [] : [turnFailed(left, open, failure, delivery)]),
    ...agentQuestions.map(({ promptId }) => ({ _tag: "AgentQuestionClosed" as const, promptId })),
    requestTurn(asked, "open"),
    { _tag: "SessionLost", turnId: turn.turnId, old: runtimeSessionId ?? left.sessionId, reason }
  ])
}

const inExistingSession = (asked: AskedTurn): Decision => {
  const { command, details, session, turn } = asked
  const moved = onNextHost(asked)
  if (moved !== undefined) return moved
  if (session.turn !== undefined) return refuseBusy(details, command, session.turn)
  const usable = requireUsableSession(session, details)
  if (Result.isSuccess(usable)) return Result.succeed([requestTurn(asked, "inspect")])
  const { code, reason } = usable.failure
  if (!mayReplaceEnded(session, turn)) {
    const message = `Session ${details.sessionId} cannot be continued: ${reason}. Continue in a new session.`
    const ended = hasEnded(session) ? { sessionEnded: true as const } : {}
    return refuseTurn(details, command, code, { kind: "session-missing", message, sessionUsable: false, ...ended })
  }
  const old = session.runtimeSessionId ?? details.sessionId
  return Result.succeed([requestTurn(asked, "open"), { _tag: "SessionLost", turnId: turn.turnId, old, reason }])
}

const detailsOf = (session: Session, command: Command<"StartTurn">, sessionId: SessionId): SessionDetails => {
  const known = command.session._tag === "New" && command.fresh !== true ? undefined : session.details
  return {
    sessionId,
    runId: command.runId,
    role: command.role,
    runtime: command.runtime,
    ...defined({ model: command.model, variant: command.variant }),
    // A command may name an existing session by its id alone: the session stays in its directory.
    directory: command.directory === "" ? (known?.directory ?? "") : command.directory,
    // A live session stays on the host with its files and its runtime, whatever host the command names, until that is gone.
    host: known === undefined || hasEnded(session) || known.host === command.movedFrom ? command.host : known.host,
    permissions: command.permissions,
    title: command.title ?? known?.title ?? `${command.role} of ${command.runId}`,
    ...defined({ phase: command.phase, step: command.step }),
    ...(command.fixer === true ? { fixer: true } : {}),
    report: command.report,
    ...defined({
      prompts: command.prompts,
      reviewPath: command.reviewPath,
      instructionsFrom: command.instructionsFrom
    }),
    limits: command.limits,
    wholePrompt: command.freshPrompt ?? known?.wholePrompt ?? command.prompt
  }
}

/** A turn of its own words needs the task as well, where another session is told them. */
const freshPromptOf = (
  { freshPrompt, onMissing, prompt }: Command<"StartTurn">,
  { wholePrompt }: SessionDetails
): string => {
  if (freshPrompt !== undefined) return freshPrompt
  return onMissing === "reconstruct" && wholePrompt !== prompt ? `${wholePrompt}\n\n${prompt}` : prompt
}

export const startTurn = (session: Session, command: Command<"StartTurn">, delivery: Delivery): Decision => {
  if (isKnownTurn(session, command.turnId)) return nothing
  return Result.gen(function* () {
    const isNew = command.session._tag === "New"
    const named = command.session._tag === "New" ? SessionId.make(delivery.key) : command.session.sessionId
    const sessionId = yield* requireAddressedHere(named, delivery)
    yield* requireOwnRun(session, delivery)
    yield* requireSameRun(session, command.runId)
    yield* requireAbsoluteDirectory(command.directory)
    yield* requireUsableForm(command.report)
    const details = detailsOf(session, command, sessionId)
    const turn: TurnRequest = {
      turnId: command.turnId,
      prompt: command.prompt,
      freshPrompt: freshPromptOf(command, details),
      onMissing: command.onMissing,
      reason: command.reason ?? "continue",
      ...(command.fresh === true ? { fresh: true } : {})
    }
    const asked: AskedTurn = { session, details, command, turn, delivery }
    return yield* interruptedEarly(asked) ?? (isNew ? inNewSession(asked) : inExistingSession(asked))
  })
}

/** Continues the session as it is, with the settings of its last turn. */
export const continueSession = (
  session: Session,
  command: Command<"ContinueSession">,
  delivery: Delivery
): Decision => {
  if (isKnownTurn(session, command.turnId)) return nothing
  if (session.details === undefined) return refuse("not-found", `There is no session ${command.sessionId} to continue.`)
  // A variant is one of its model.
  const { fixer: wasFixer, variant: before, ...rest } = session.details
  const fixer = command.fixer ?? (command.step === undefined && wasFixer === true)
  const variant = command.variant ?? (command.model === undefined ? before : undefined)
  const details: SessionDetails = {
    ...rest,
    ...defined({ variant, phase: command.phase, step: command.step }),
    ...(fixer ? { fixer } : {}),
    ...defined({ model: command.model, limits: command.limits })
  }
  const turn: TurnRequest = {
    turnId: command.turnId,
    prompt: continuePrompt(command.guidance),
    freshPrompt: withGuidance(details.wholePrompt, command.guidance),
    onMissing: command.onMissing,
    reason: "continue"
  }
  const asked: AskedTurn = { session, details, command, turn, delivery }
  return Result.flatMap(requireOwnRun(session, delivery), () => interruptedEarly(asked) ?? inExistingSession(asked))
}
