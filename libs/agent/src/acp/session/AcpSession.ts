/** A session as this process knows it: its record, its conversation and its running turn. */
import type { SessionConfigOption } from "@agentclientprotocol/sdk"
import { Deferred, Semaphore } from "effect"
import type { AgentError } from "../../AgentError.ts"
import type { PromptReply, TurnOutcome } from "../../AgentRuntimeShape.ts"
import type { PendingPrompt } from "../../RuntimeEvent.ts"
import { TextThrottle } from "../../TextThrottle.ts"
import { Conversation } from "../conversation/Conversation.ts"
import type { AgentProcess } from "../process/AgentProcess.ts"
import type { AcpRecord } from "./AcpRecord.ts"

export interface Waiting {
  readonly prompt: PendingPrompt
  /** `undefined`: nobody waits for the answer any more. */
  readonly answer: Deferred.Deferred<PromptReply | undefined>
}

/** Our running turn, over all that is sent for it. */
export class LiveTurn {
  readonly messageId: string
  readonly end = Deferred.makeUnsafe<TurnOutcome, AgentError>()
  readonly waiting = new Map<string, Waiting>()
  readonly words = new TextThrottle()
  readonly toolsTold = new Set<string>()
  /** Tool calls whose words about files that may not be written were heard, and what is being decided about them. */
  readonly toolsHeard = new Set<string>()
  readonly deciding: Array<Promise<ReadonlyArray<string>>> = []
  /** Its agent was started again with rights that end with the turn. */
  widened = false
  /** Somebody has aborted it. */
  readonly stopped = Deferred.makeUnsafe<void>()
  workingAtMs = Number.NEGATIVE_INFINITY
  announced = false
  aborted = false
  /** A human refused a permission without words, or dismissed a question. */
  refused = false
  /** What the agent is to be told about a refusal: the protocol has no place for words in its answer. */
  readonly toSay: Array<string> = []

  constructor(messageId: string) {
    this.messageId = messageId
  }
}

/** What the agent has told about its use, as running totals of the session. */
export interface Told {
  contextTokens?: number
  contextSize?: number
  cost: number
}

export class AcpSession {
  record: AcpRecord
  conversation = new Conversation()
  /** The conversation while it is replayed. */
  replay: Conversation | undefined
  /** The process that has the session loaded. */
  loadedIn: AgentProcess | undefined
  live: LiveTurn | undefined
  configOptions: ReadonlyArray<SessionConfigOption> = []
  updatedAtMs = 0
  readonly told: Told = { cost: 0 }
  readonly loading = Semaphore.makeUnsafe(1)

  get agentId(): string {
    return this.record.agentId ?? this.record.id
  }

  constructor(record: AcpRecord) {
    this.record = record
    this.updatedAtMs = Math.max(0, ...record.prompts.map(({ endedAtMs = 0 }) => endedAtMs))
  }
}

/** Whether the process has a running turn. `but`: that of this session does not count. */
export const isAtWork = (sessions: ReadonlyMap<string, AcpSession>, process: AgentProcess, but?: AcpSession): boolean =>
  [...sessions.values()].some((it) => it !== but && it.live !== undefined && it.loadedIn === process)
