/** The state of one session: what it is, the turn that is open, and what the agent is doing (sessions: Lifecycle). */
import { type ContextFill, noTokens, type SessionView, type Tokens } from "@reprise/protocol"
import type { Tried } from "./actions/chooseAction.ts"
import type { EventOf, SessionDetails, TurnRequest } from "./events.ts"
import { holdOf } from "./holds.ts"

export type SessionStatus = SessionView["status"]

/** A turn from its request to its report. */
export interface OpenTurn {
  readonly request: TurnRequest
  readonly startedAt: string
  readonly stage: "opening" | "inspecting" | "prompting" | "waiting"
  /** The runtime session that was lost and is to be replaced. */
  readonly lost?: { readonly old: string; readonly reason: string }
  readonly continued: boolean
  /** The newest prompt. */
  readonly prompt?: EventOf<"PromptPlanned">
  /** How many of its prompts followed for each reason. */
  readonly corrections: number
  readonly autoContinues: number
  readonly waits: number
  /** For a rate limit, for credit or for the network. */
  readonly waitedMs: number
  /** For a human's answers. */
  readonly humanMs: number
  /** What the agent was last reported to lack. */
  readonly failing?: string
  /** Its work was announced; that is done once per turn. */
  readonly working: boolean
  readonly messagesBefore: number
  /** The newest prompt is planned and held back until its time comes. */
  readonly heldBack: boolean
  /** What was said in the session that was replaced. */
  readonly earlier?: string
  readonly tokens: Tokens
  readonly cost: number
  readonly attempts: number
  readonly lastLines?: string
  /** As the runtime told it at the end of the turn's newest prompt. */
  readonly context?: ContextFill
}

/** Something the agent waits for a human to answer. */
export interface OpenPrompt {
  /** Under which it was announced; a human answers this. */
  readonly promptId: string
  /** The runtime's id of it now: a runtime that was restarted forgets what it asked, and the agent asks again. */
  readonly askedAs: string
  readonly kind: "permission" | "question"
  readonly text: string
  readonly options: ReadonlyArray<string>
  /** The same with their labels. */
  readonly choices: ReadonlyArray<{ readonly name: string; readonly label: string }>
  /** The human's answer, kept until the runtime has it. */
  readonly reply?: string
}

export interface Session {
  readonly status: SessionStatus | "unknown"
  readonly details?: SessionDetails
  readonly runtimeSessionId?: string
  readonly turn?: OpenTurn
  readonly prompts: ReadonlyArray<OpenPrompt>
  /** What was tried about an agent that did not work as it should, by trigger; forgotten with every turn. */
  readonly tried: Readonly<Record<string, Tried>>
  /** How many actions the open turn has led to. */
  readonly actions: number
  /** Of a standalone session: the open question. */
  readonly question?: EventOf<"QuestionAsked">
  readonly questionsAsked: number
  readonly turnsAsked: number
  /** Where the conversation was saved. */
  readonly saved?: { readonly object: string; readonly at: string }
  /** The agent works and no turn of ours made it. */
  readonly foreign: boolean
  /** Turns that were asked for before, newest last: asked for again, they change nothing. */
  readonly pastTurns: ReadonlyArray<string>
  /** Grows with every sign of use; timers that meet another count are stale. */
  readonly activity: number
  /** The runtime's id of the newest prompt of ours. */
  readonly lastPromptId?: string
  readonly turns: number
  readonly messages: number
  readonly toolCalls: number
  readonly tokens: Tokens
  readonly cost: number
  readonly createdAt: string
  readonly lastActivityAt: string
  readonly lastStopReason?: string
}

export const noSession: Session = {
  status: "unknown",
  prompts: [],
  tried: {},
  actions: 0,
  questionsAsked: 0,
  turnsAsked: 0,
  foreign: false,
  pastTurns: [],
  activity: 0,
  turns: 0,
  messages: 0,
  toolCalls: 0,
  tokens: noTokens,
  cost: 0,
  createdAt: "",
  lastActivityAt: ""
}

const ended: ReadonlyArray<Session["status"]> = ["expired", "completed", "aborted", "failed"]
export const hasEnded = (session: Session): boolean => ended.includes(session.status)

/** The place that every public event of a session names. */
export const placeOf = (details: SessionDetails, turnId?: TurnRequest["turnId"]) => ({
  runId: details.runId,
  sessionId: details.sessionId,
  role: details.role,
  ...(details.phase === undefined ? {} : { phase: details.phase }),
  ...(details.step === undefined ? {} : { step: details.step }),
  ...(turnId === undefined ? {} : { turnId })
})

const heldBy = (session: Session): Pick<SessionView, "heldBy"> => {
  const hold = hasEnded(session) ? undefined : holdOf(session)
  return hold === undefined ? {} : { heldBy: hold }
}

export const viewOf = (session: Session): SessionView | undefined => {
  const { details, status } = session
  if (details === undefined || status === "unknown") return undefined
  const { directory, host, model, phase, role, runId, runtime, sessionId } = details
  return {
    ...{ sessionId, runId, role, runtime, directory, host, status },
    ...(model === undefined ? {} : { model }),
    ...(phase === undefined ? {} : { phase }),
    ...(session.runtimeSessionId === undefined ? {} : { runtimeSessionId: session.runtimeSessionId }),
    ...(session.turn === undefined ? {} : { turnId: session.turn.request.turnId }),
    ...(session.lastPromptId === undefined ? {} : { lastPromptId: session.lastPromptId }),
    turns: session.turns,
    messages: session.messages,
    toolCalls: session.toolCalls,
    tokens: session.tokens,
    cost: session.cost,
    createdAt: session.createdAt,
    lastActivityAt: session.lastActivityAt,
    ...(session.lastStopReason === undefined ? {} : { lastStopReason: session.lastStopReason }),
    permissions: details.permissions,
    ...(details.standalone === true ? { prompt: details.wholePrompt } : {}),
    ...(session.question === undefined ? {} : { escalationId: session.question.ask.escalationId }),
    ...heldBy(session),
    ...(session.saved === undefined ? {} : { transcript: session.saved.object, savedAt: session.saved.at })
  }
}
