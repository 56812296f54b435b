/** The fold of a turn: from its request over its prompts to its end. */

import { addUsage, defined, noUsage } from "@reprise/protocol"
import { Duration } from "effect"
import { attemptCounted } from "../session/actions.ts"
import type { EventOf } from "../session/journal.ts"
import { changeTurn, knowing, type OpenTurn, type Session, usedAt } from "../session/state.ts"
import { after } from "../settings.ts"

type TurnEvent = EventOf<
  | "AgentFailed"
  | "PromptEnded"
  | "PromptPrepared"
  | "PromptRetried"
  | "PromptTakenUp"
  | "SessionFound"
  | "SessionLost"
  | "SessionOpened"
  | "SessionReplaced"
  | "TurnCompleted"
  | "TurnFailed"
  | "TurnInterrupting"
  | "InterruptedEarly"
  | "TurnRequested"
  | "TurnWaiting"
>

export const evolveTurn = (session: Session, event: TurnEvent): Session => {
  switch (event._tag) {
    case "TurnRequested":
      return turnRequested(session, event)
    case "SessionLost":
      return changeTurn(session, event.turnId, (turn) => ({
        ...turn,
        stage: "opening",
        lost: { old: event.old, reason: event.reason }
      }))
    case "SessionOpened":
      return sessionOpened(session, event)
    case "SessionReplaced":
      return event.old === event.new ? sessionReplaced(session) : notContinued(session)
    case "SessionFound":
      return changeTurn(session, event.turnId, (turn) => ({ ...turn, continued: true, messagesBefore: event.messages }))
    case "PromptPrepared":
      return {
        ...knowing(
          changeTurn(session, event.turnId, (turn) => promptPrepared(turn, event)),
          event.identity.messageId
        ),
        lastPromptId: event.identity.messageId
      }
    case "PromptRetried":
      return changeTurn(usedAt(session, event.at), event.turnId, (turn) => promptRetried(turn, event))
    case "PromptTakenUp":
      return changeTurn(session, event.turnId, (turn) => ({ ...turn, attempts: Math.max(1, turn.attempts) + 1 }))
    case "PromptEnded":
      return promptEnded(session, event)
    case "TurnWaiting":
      return turnWaiting(session, event)
    case "TurnInterrupting":
      return changeTurn(session, event.turnId, (turn) => ({
        ...turn,
        stage: "interrupting",
        interruptedFor: event.reason
      }))
    case "InterruptedEarly": {
      const { reason, turnId } = event
      return { ...session, interruptedEarly: [...session.interruptedEarly, { turnId, reason }].slice(-pastTurnsKept) }
    }
    case "AgentFailed":
      return session.turn === undefined
        ? session
        : { ...session, turn: { ...session.turn, announcedFailure: event.kind } }
    case "TurnCompleted":
      return turnEnded(session, event.turnId, session.turn?.finish ?? "completed")
    case "TurnFailed":
      return turnFailed(session, event)
  }
}

const turnRequested = (session: Session, event: EventOf<"TurnRequested">): Session => ({
  ...usedAt(session, event.at),
  details: event.session,
  turn: openTurn(event),
  tried: {},
  actionCount: 0,
  workingOutsideTurn: false,
  archived: false,
  released: false,
  status: event.begin === "open" ? "requested" : "active",
  createdAt: session.createdAt === "" ? event.at : session.createdAt
})

const openTurn = (event: EventOf<"TurnRequested">): OpenTurn => ({
  request: event.turn,
  startedAt: event.at,
  stage: event.begin === "open" ? "opening" : "inspecting",
  continued: false,
  corrections: 0,
  autoContinues: 0,
  waits: 0,
  waitedMs: 0,
  humanMs: 0,
  workingAnnounced: false,
  messagesBefore: 0,
  delayed: false,
  used: noUsage,
  attempts: 0
})

const sessionOpened = (before: Session, event: EventOf<"SessionOpened">): Session => {
  const { context, forkTold, inherited = noUsage, promptId, runtimeSessionId } = event
  // One that begins again may be copied then.
  const { forkTold: _, ...session } = before
  const { details, turn } = session
  return {
    ...knowing(usedAt(session, event.at), promptId),
    ...defined({ forkTold }),
    ...(turn === undefined || context === undefined ? {} : { turn: { ...turn, earlierConversation: context } }),
    ...(details === undefined ? {} : { details: { ...details, host: event.host } }),
    runtimeSessionId,
    ...toldConversation(session, event),
    counted: inherited,
    inherited,
    status: "created"
  }
}

const notContinued = ({ turn, ...session }: Session): Session => ({
  ...session,
  ...(turn === undefined ? {} : { turn: { ...turn, continued: false } })
})

/** The conversation of the runtime session is a new one under its old id: nothing of it is counted. */
export const sessionReplaced = (session: Session): Session => ({
  ...notContinued(session),
  counted: noUsage,
  inherited: noUsage
})

/** What the session was told is lost with it, until its own conversation is saved. */
const toldConversation = ({ saved, turn }: Session, { context, runtimeSessionId }: EventOf<"SessionOpened">) =>
  saved === undefined || context === undefined || turn?.request.fresh === true
    ? {}
    : { saved: { object: saved.object, of: runtimeSessionId, at: saved.at } }

const promptPrepared = ({ announcedFailure: _, ...turn }: OpenTurn, event: EventOf<"PromptPrepared">): OpenTurn => ({
  ...turn,
  stage: event.delayMs === undefined ? "prompting" : "waiting",
  delayed: event.delayMs !== undefined,
  prompt: event,
  corrections: turn.corrections + (event.because === "invalid-report" || event.because === "no-report" ? 1 : 0),
  autoContinues: turn.autoContinues + (event.because === "turn-limit" ? 1 : 0)
})

/** What was left of a wait that a human had end does not count as waited. */
const promptRetried = ({ wait: _, ...turn }: OpenTurn, event: EventOf<"PromptRetried">): OpenTurn => ({
  ...turn,
  stage: "prompting",
  delayed: false,
  waitedMs: turn.waitedMs - (event.leftMs ?? 0),
  attempts: event.first === true ? turn.attempts : Math.max(1, turn.attempts) + 1
})

const promptEnded = (session: Session, event: EventOf<"PromptEnded">): Session => {
  const ended: Session = {
    ...usedAt(session, event.at),
    ...defined({ model: event.model }),
    used: addUsage(session.used, event),
    counted: addUsage(session.counted, event),
    toolCalls: session.toolCalls + event.toolCalls,
    messages: event.messages ?? session.messages
  }
  return changeTurn(knowing(ended, event.answered), event.turnId, (turn) => usageAdded(turn, event))
}

/** A prompt that the agent was not given is not part of the conversation. */
const saidWith = ({ prompt }: OpenTurn, { given }: EventOf<"PromptEnded">) =>
  prompt === undefined || given === false ? {} : { said: prompt.identity.messageId }

/** The open turn with what a prompt used; its first attempt counts once, for all prompts together. */
export const usageAdded = (turn: OpenTurn, event: EventOf<"PromptEnded">): OpenTurn => ({
  ...turn,
  used: addUsage(turn.used, event),
  humanMs: turn.humanMs + (event.humanMs ?? 0),
  attempts: Math.max(1, turn.attempts) + event.attempts - 1,
  ...lastLinesOf(turn, event),
  ...saidWith(turn, event),
  ...defined({ commit: event.commit }),
  ...(event.given === undefined ? {} : { given: turn.given === true || event.given }),
  ...defined({ finish: event.finish, context: event.context })
})

/** Reports are for the machine: a human is shown what the agent wrote before. */
const lastLinesOf = (turn: OpenTurn, event: EventOf<"PromptEnded">) =>
  event.lastLines === undefined || turn.prompt?.kind === "report" || turn.prompt?.kind === "correction"
    ? {}
    : { lastLines: event.lastLines }

const turnWaiting = (session: Session, event: EventOf<"TurnWaiting">): Session => {
  const { at, attempt, index, message, trigger } = event
  const counted =
    index === undefined || attempt === undefined ? session : attemptCounted(session, trigger, { index, attempt, at })
  return changeTurn(counted, event.turnId, (turn) => ({
    ...turn,
    stage: "waiting",
    waits: turn.waits + 1,
    waitedMs: turn.waitedMs + event.waitMs,
    wait: { until: after(at, Duration.millis(event.waitMs)), trigger, ...defined({ message }) }
  }))
}

const pastTurnsKept = 100

/** A turn that was stopped at once may have said something although no prompt of it has ended. */
const withPastTurn = (session: Session, turn: OpenTurn): Session["pastTurns"] => {
  const { pastTurns, runtimeSessionId } = session
  const promptId = turn.said ?? (turn.workingAnnounced ? turn.prompt?.identity.messageId : undefined)
  if (promptId === undefined || runtimeSessionId === undefined) return pastTurns
  const { turnId } = turn.request
  const ended = { turn: session.turns + 1, turnId, runtimeSessionId, promptId, endedAt: session.lastActivityAt }
  return [...pastTurns, { ...ended, ...defined({ commit: turn.commit }) }].slice(-pastTurnsKept)
}

const turnEnded = (session: Session, turnId: string, stopReason: string): Session => {
  const { pastTurnIds } = session
  const ids = pastTurnIds.includes(turnId) ? pastTurnIds : [...pastTurnIds, turnId]
  const remembered = { ...session, pastTurnIds: ids.slice(-pastTurnsKept) }
  if (session.turn?.request.turnId !== turnId) return remembered
  const { turn: _, ...rest } = remembered
  return {
    ...rest,
    pastTurns: withPastTurn(session, session.turn),
    agentQuestions: [],
    earlierQuestions: [],
    turns: session.turns + 1,
    useCount: session.useCount + 1,
    lastStopReason: stopReason
  }
}

/** A session that never opened, or that the runtime lost, has failed; a standalone one may start over. */
const turnFailed = (session: Session, event: EventOf<"TurnFailed">): Session => {
  const after = turnEnded(session, event.turnId, `${event.kind}: ${event.message}`)
  const isLost =
    session.turn?.request.turnId === event.turnId &&
    session.task === undefined &&
    (event.kind === "session-missing" || session.turn.stage === "opening")
  return isLost ? { ...after, status: "failed" } : after
}
