/** The state of one session: what it is, the open turn, and what the agent is doing (docs/design/sessions.md#lifecycle). */
import {
  type ContextFill,
  defined,
  type EscalationId,
  noUsage,
  type PastTurn,
  type RuntimeId,
  type SessionView,
  type Usage
} from "@reprise/protocol"
import type { EventOf, SessionDetails, Trigger, TurnRequest } from "./journal.ts"

export type SessionStatus = SessionView["status"]

/** A turn from its request to its end. */
export interface OpenTurn {
  readonly request: TurnRequest
  readonly startedAt: string
  readonly stage: "opening" | "inspecting" | "prompting" | "waiting" | "interrupting"
  /** Why it is being interrupted. */
  readonly interruptedFor?: string
  /** The runtime session that is to be replaced, and why. */
  readonly lost?: { readonly old: string; readonly reason: string }
  /** It goes on in a runtime session that existed before. */
  readonly continued: boolean
  /** The newest prompt. */
  readonly prompt?: EventOf<"PromptPrepared">
  readonly corrections: number
  readonly autoContinues: number
  readonly waits: number
  /** How long it waited for a rate limit, for credit or for the network, the present wait included. */
  readonly waitedMs: number
  /** The present wait: when it is over, ISO 8601, and what for. */
  readonly wait?: Pick<EventOf<"TurnWaiting">, "trigger" | "message"> & { readonly until: string }
  /** How long it waited for a human's answers. */
  readonly humanMs: number
  /** The failure that was announced last, since the newest prompt. */
  readonly announcedFailure?: EventOf<"AgentFailed">["kind"]
  /** `AgentWorking` is published once per turn. */
  readonly workingAnnounced: boolean
  /** Whether a prompt of the turn is part of the session's conversation, as far as it is known. */
  readonly given?: boolean
  /** Of the runtime session, when the turn began. */
  readonly messagesBefore: number
  /** The newest prompt has not been sent: a timer will send it. */
  readonly delayed: boolean
  /** The conversation of the session that was replaced. */
  readonly earlierConversation?: string
  readonly used: Usage
  readonly attempts: number
  /** Its last prompt that is part of the conversation, as far as it is known. */
  readonly said?: string
  /** HEAD of the session's directory at the end of its newest prompt. */
  readonly commit?: string
  /** Why the model stopped last, in the runtime's word. */
  readonly finish?: string
  readonly lastLines?: string
  /** At the end of the newest prompt. */
  readonly context?: ContextFill
}

/** A permission or a question that the agent waits for. */
export interface AgentQuestion {
  /** The id under which it was announced, and under which a human answers it. */
  readonly promptId: string
  /** The runtime's present id: a restarted runtime forgets its questions, and the agent asks again under another. */
  readonly runtimePromptId: RuntimeId
  readonly kind: "permission" | "question"
  readonly text: string
  readonly options: ReadonlyArray<{ readonly name: string; readonly label: string }>
  /** Kept until the runtime has it, with what the human said with it. */
  readonly reply?: string
  readonly message?: string
}

/** Where the conversation was saved, and when. */
export interface SavedTranscript {
  readonly object: string
  /** The runtime session that is lost without it: the one that had the conversation, or was told it. */
  readonly of: string
  /** How many messages were saved, and their digest; absent: the runtime session has other messages. */
  readonly known?: { readonly messages: number; readonly digest: string }
  readonly at: string
}

/** How often each of a trigger's actions was tried, by its index in the configuration. */
export interface TriedActions {
  readonly counts: ReadonlyArray<number>
  /** When the newest was taken, ISO 8601. */
  readonly lastAt?: string
}

export interface Session {
  readonly status: SessionStatus | "unknown"
  readonly details?: SessionDetails
  readonly runtimeSessionId?: RuntimeId
  readonly turn?: OpenTurn
  readonly agentQuestions: ReadonlyArray<AgentQuestion>
  /** The runtime's ids of what the agent asked in this turn before a question that is known. */
  readonly earlierQuestions: ReadonlyArray<string>
  /** The actions that were tried in the open turn, by trigger. */
  readonly tried: Readonly<Partial<Record<Trigger, TriedActions>>>
  /** How many actions the open turn has led to. */
  readonly actionCount: number
  /** Of a standalone session: the words that it was started with. */
  readonly task?: string
  /** Of a fork that was told the conversation: why it was not copied. */
  readonly forkTold?: string
  /** Of a fork: where it begins. */
  readonly fork?: EventOf<"StandaloneRequested">["command"]["fork"]
  /** Of a standalone session: what its run asks a human. */
  readonly escalationId?: EscalationId | undefined
  readonly saved?: SavedTranscript
  /** The whole conversation is in the archive. */
  readonly archived: boolean
  /** Its phase does not need it any more. */
  readonly released: boolean
  /** A human is at work in the session, or the agent by itself. */
  readonly workingOutsideTurn: boolean
  /** Earlier turns, newest last: requesting one of them again changes nothing. */
  readonly pastTurnIds: ReadonlyArray<string>
  /** Turns that were interrupted before they were requested, newest last. */
  readonly interruptedEarly: ReadonlyArray<{ readonly turnId: string; readonly reason: string }>
  /** Those whose words are in the conversation, newest last. */
  readonly pastTurns: ReadonlyArray<PastTurn>
  /** Grows with every use; a timer that was set with another count is stale. */
  readonly useCount: number
  /** The message id of our newest prompt. */
  readonly lastPromptId?: string
  /** The newest prompts whose work is known, ours and others', newest last. */
  readonly knownPromptIds: ReadonlyArray<string>
  readonly turns: number
  readonly messages: number
  readonly toolCalls: number
  /** How many permissions it was refused. */
  readonly refusals: number
  /** Whoever prompted it. */
  readonly used: Usage
  /** What is counted of the total of its present runtime session. */
  readonly counted: Usage
  /** What of that was used in the session that it is a fork of. */
  readonly inherited: Usage
  /** The model that answered last. */
  readonly model?: string
  readonly createdAt: string
  readonly lastActivityAt: string
  readonly lastStopReason?: string
}

export const noSession: Session = {
  status: "unknown",
  agentQuestions: [],
  earlierQuestions: [],
  tried: {},
  actionCount: 0,
  archived: false,
  released: false,
  workingOutsideTurn: false,
  pastTurnIds: [],
  interruptedEarly: [],
  pastTurns: [],
  knownPromptIds: [],
  useCount: 0,
  turns: 0,
  messages: 0,
  toolCalls: 0,
  refusals: 0,
  used: noUsage,
  counted: noUsage,
  inherited: noUsage,
  createdAt: "",
  lastActivityAt: ""
}

const ended: ReadonlyArray<Session["status"]> = ["expired", "completed", "aborted", "failed"]
export const isEnded = (status: Session["status"]): boolean => ended.includes(status)
export const hasEnded = (session: Session): boolean => isEnded(session.status)

/** The fields that every public event of a session carries. */
export const eventFields = (details: SessionDetails, turnId?: TurnRequest["turnId"]) => ({
  runId: details.runId,
  sessionId: details.sessionId,
  role: details.role,
  ...defined({ phase: details.phase, step: details.step, turnId })
})

/** The conversation that a turn can be reconstructed from when this runtime session is lost. */
export const savedOf = ({ saved }: Session, runtimeSessionId: RuntimeId): SavedTranscript | undefined =>
  saved?.of === runtimeSessionId ? saved : undefined

export type Hold = NonNullable<SessionView["heldBy"]>

/**
 * What still needs the session. `turn`: one is open. `agent`: it works by itself, or a human works in it. `question`: the
 * session or its agent waits for a human. `phase`: questions and checkpoints of its phase may need it, until the run
 * releases, completes or aborts it; so does the run of a standalone session.
 */
export const holdOf = (session: Session): Hold | undefined => {
  if (session.turn !== undefined) return "turn"
  if (session.workingOutsideTurn) return "agent"
  if (session.escalationId !== undefined || session.agentQuestions.length > 0) return "question"
  if (session.released) return undefined
  return session.details?.phase === undefined && session.task === undefined ? undefined : "phase"
}

/** The session with its open turn changed; a turn that is no longer open stays closed. */
export const changeTurn = (session: Session, turnId: string, change: (turn: OpenTurn) => OpenTurn): Session =>
  session.turn?.request.turnId === turnId ? { ...session, turn: change(session.turn) } : session

/** Enough to recognize the last message after a prompt that never arrived. */
const maxKnownPrompts = 10

/** The session with one more prompt whose work is known. */
export const knowing = (session: Session, promptId: string | undefined): Session =>
  promptId === undefined || session.knownPromptIds.at(-1) === promptId
    ? session
    : {
        ...session,
        knownPromptIds: [...session.knownPromptIds.filter((id) => id !== promptId), promptId].slice(-maxKnownPrompts)
      }

/** The session used at this time: timers that were set before are stale. */
export const usedAt = (session: Session, at: string): Session => ({
  ...session,
  useCount: session.useCount + 1,
  lastActivityAt: at
})
