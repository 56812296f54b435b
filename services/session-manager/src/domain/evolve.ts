import { addTokens, noTokens } from "@reprise/protocol"
import { nothingTried, triedOnce } from "./actions/chooseAction.ts"
import type { EventOf, JournalEvent } from "./events.ts"
import type { OpenPrompt, OpenTurn, Session } from "./Session.ts"

const pastTurnsKept = 100

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
  working: false,
  messagesBefore: 0,
  heldBack: false,
  tokens: noTokens,
  cost: 0,
  attempts: 0
})

/** The session with its open turn changed; a turn that is not open any more stays closed. */
const inTurn = (session: Session, turnId: string, change: (turn: OpenTurn) => OpenTurn): Session =>
  session.turn?.request.turnId === turnId ? { ...session, turn: change(session.turn) } : session

const changePrompt = (session: Session, promptId: string, change: (open: OpenPrompt) => OpenPrompt): Session => ({
  ...session,
  prompts: session.prompts.map((open) => (open.promptId === promptId ? change(open) : open))
})

const touched = (session: Session, at: string): Session => ({
  ...session,
  activity: session.activity + 1,
  lastActivityAt: at
})

const promptPlanned = ({ failing: _, ...turn }: OpenTurn, event: EventOf<"PromptPlanned">): OpenTurn => ({
  ...turn,
  stage: event.delayMs === undefined ? "prompting" : "waiting",
  heldBack: event.delayMs !== undefined,
  prompt: event,
  corrections: turn.corrections + (event.because === "invalid-report" ? 1 : 0),
  autoContinues: turn.autoContinues + (event.because === "turn-limit" ? 1 : 0)
})

const promptEnded = (session: Session, event: EventOf<"PromptEnded">): Session => {
  const counted: Session = {
    ...touched(session, event.at),
    tokens: addTokens(session.tokens, event.tokens),
    cost: session.cost + event.cost,
    toolCalls: session.toolCalls + event.toolCalls,
    messages: event.messages ?? session.messages
  }
  return inTurn(counted, event.turnId, (turn) => ({
    ...turn,
    tokens: addTokens(turn.tokens, event.tokens),
    cost: turn.cost + event.cost,
    humanMs: turn.humanMs + (event.humanMs ?? 0),
    // The first prompt of a turn counts once; every time one was taken up again, the turn was.
    attempts: Math.max(1, turn.attempts) + event.attempts - 1,
    ...lastLinesOf(turn, event),
    ...(event.context === undefined ? {} : { context: event.context })
  }))
}

/** A report is for the machine: a human is shown what was written before it. */
const lastLinesOf = (turn: OpenTurn, event: EventOf<"PromptEnded">) =>
  event.lastLines === undefined || turn.prompt?.kind === "report" || turn.prompt?.kind === "correction"
    ? {}
    : { lastLines: event.lastLines }

const turnEnded = (session: Session, turnId: string, stopReason: string): Session => {
  const pastTurns = session.pastTurns.includes(turnId) ? session.pastTurns : [...session.pastTurns, turnId]
  const remembered = { ...session, pastTurns: pastTurns.slice(-pastTurnsKept) }
  if (session.turn?.request.turnId !== turnId) return remembered
  const { turn: _, ...rest } = remembered
  return { ...rest, prompts: [], turns: session.turns + 1, activity: session.activity + 1, lastStopReason: stopReason }
}

const turnFailed = (session: Session, event: EventOf<"TurnFailed">): Session => {
  const own = session.turn?.request.turnId === event.turnId
  const after = turnEnded(session, event.turnId, `${event.kind}: ${event.message}`)
  // A session that never opened, or that the runtime lost, is no session any more; a standalone one may begin anew.
  const lost =
    own &&
    session.details?.standalone !== true &&
    (event.kind === "session-missing" || session.turn?.stage === "opening")
  return lost ? { ...after, status: "failed" } : after
}

const workingNow = (session: Session, event: EventOf<"AgentWorking">): Session => {
  const awake: Session = { ...session, status: "active", foreign: event.cause !== "turn" && session.turn === undefined }
  return event.cause === "turn" && event.turnId !== undefined
    ? inTurn(awake, event.turnId, (turn) => ({ ...turn, working: true }))
    : awake
}

const openPrompt = (event: EventOf<"AgentPrompting"> | EventOf<"PromptDecided">): OpenPrompt => {
  const { kind, options, promptId, text } = event
  return { promptId, askedAs: promptId, kind, text, options: options.map(({ name }) => name), choices: options }
}

const contextOf = (session: Session, context: string): Pick<Session, "turn"> =>
  session.turn === undefined ? {} : { turn: { ...session.turn, earlier: context } }

const counted = (
  session: Session,
  trigger: string,
  chosen: { readonly place: number; readonly attempt: number; readonly at: string }
): Session => ({
  ...session,
  tried: { ...session.tried, [trigger]: triedOnce(session.tried[trigger] ?? nothingTried, chosen, chosen.at) }
})

const waitCounted = (session: Session, { at, attempt, kind, place }: EventOf<"TurnWaiting">): Session =>
  place === undefined || attempt === undefined
    ? session
    : counted(session, kind === "gone" ? kind : `error.${kind}`, { place, attempt, at })

export const evolve = (session: Session, event: JournalEvent): Session => {
  switch (event._tag) {
    case "TurnRequested":
      return {
        ...touched(session, event.at),
        details: event.session,
        turn: openTurn(event),
        tried: {},
        actions: 0,
        turnsAsked: session.turnsAsked + 1,
        foreign: false,
        status: event.begin === "open" ? "requested" : "active",
        createdAt: session.createdAt === "" ? event.at : session.createdAt
      }
    case "SessionLost":
      return inTurn(session, event.turnId, (turn) => ({
        ...turn,
        stage: "opening",
        lost: { old: event.old, reason: event.reason }
      }))
    case "SessionOpened":
      return {
        ...touched(session, event.at),
        ...(event.context === undefined ? {} : contextOf(session, event.context)),
        runtimeSessionId: event.runtimeSessionId,
        status: "created",
        ...(session.details === undefined ? {} : { details: { ...session.details, host: event.host } })
      }
    case "SessionFound":
      return inTurn(session, event.turnId, (turn) => ({ ...turn, continued: true, messagesBefore: event.messages }))
    case "PromptPlanned":
      return {
        ...inTurn(session, event.turnId, (turn) => promptPlanned(turn, event)),
        lastPromptId: event.identity.messageId
      }
    case "PromptEnded":
      return promptEnded(session, event)
    case "TurnWaiting":
      return inTurn(waitCounted(session, event), event.turnId, (turn) => ({
        ...turn,
        stage: "waiting",
        waits: turn.waits + 1,
        waitedMs: turn.waitedMs + event.waitMs
      }))
    case "PromptRetried":
      return inTurn(touched(session, event.at), event.turnId, (turn) => ({
        ...turn,
        stage: "prompting",
        heldBack: false,
        attempts: event.first === true ? turn.attempts : Math.max(1, turn.attempts) + 1
      }))
    case "AgentFailed":
      return session.turn === undefined ? session : { ...session, turn: { ...session.turn, failing: event.kind } }
    case "TurnCompleted":
      return turnEnded(session, event.turnId, "completed")
    case "TurnFailed":
      return turnFailed(session, event)
    case "ActivityNoted":
      return touched(session, event.at)
    case "AgentWorking":
      return workingNow(session, event)
    case "AgentIdle":
      return { ...session, foreign: false }
    case "AgentPrompting":
      return { ...session, prompts: [...session.prompts, openPrompt(event)] }
    case "PromptDecided":
      return { ...session, prompts: [...session.prompts, { ...openPrompt(event), reply: event.reply }] }
    case "PromptReplied":
      return changePrompt(session, event.promptId, (open) => ({ ...open, reply: event.reply }))
    case "PromptAskedAgain":
      return changePrompt(session, event.promptId, (open) => ({ ...open, askedAs: event.askedAs }))
    case "PromptClosed":
      return { ...session, prompts: session.prompts.filter((open) => open.promptId !== event.promptId) }
    case "SessionPaused":
      return { ...session, status: "paused" }
    case "SessionExpired":
      return { ...session, status: "expired", prompts: [] }
    case "SessionFailed":
      return { ...session, status: "failed", prompts: [], lastStopReason: event.reason }
    case "SessionCompleted":
      return { ...session, status: "completed", prompts: [] }
    case "SessionAborted":
      return { ...session, status: "aborted", prompts: [], lastStopReason: `aborted: ${event.reason}` }
    case "QuestionAsked":
      return { ...session, question: event, questionsAsked: session.questionsAsked + 1 }
    case "QuestionClosed": {
      const { question: _, ...rest } = session
      return rest
    }
    case "ActionCounted":
      return {
        ...counted(session, event.trigger, event),
        actions: session.actions + (event.trigger === "prompt" ? 0 : 1)
      }
    case "TranscriptSaved":
      return { ...session, saved: { object: event.object, at: event.at } }
    case "ActionTaken":
    case "CommandRefused":
    case "SessionArchived":
    case "SessionCreated":
    case "SessionReused":
    case "SessionReplaced":
    case "TurnStarted":
    case "AgentGone":
      return session
  }
}
