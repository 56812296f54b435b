/** A turn of ours that runs, over all its tries. */
import { noTokens, type Tokens } from "@reprise/protocol"
import { Deferred } from "effect"
import type { AgentError, AgentErrorKind } from "../AgentError.ts"
import type { PromptReply, TurnOutcome } from "../AgentRuntimeShape.ts"
import type { PendingPrompt } from "../RuntimeEvent.ts"

export interface Waiting {
  readonly prompt: PendingPrompt
  readonly answer: Deferred.Deferred<PromptReply>
}

export interface Retrying {
  readonly attempt: number
  readonly kind: AgentErrorKind
  readonly message: string
  readonly untilMs: number
  /** When the vendor was first waited for. */
  readonly sinceMs: number
}

/** The process that works for the turn now. */
export interface LiveProcess {
  readonly interrupt: () => Promise<unknown>
  readonly kill: () => void
  readonly pid: () => number | undefined
}

export class LiveTurn {
  readonly messageId: string
  readonly end = Deferred.makeUnsafe<TurnOutcome, AgentError>()
  readonly waiting = new Map<string, Waiting>()
  process: LiveProcess | undefined
  retrying: Retrying | undefined
  workingAtMs = Number.NEGATIVE_INFINITY
  /** Whether anything was told of it, so that its end has to be told too. */
  told = false
  aborted = false
  /** The messages of the model that are being written: the agent's own, and one of each subagent that it waits for. */
  readonly writing = new Map<string | null, string>()
  /** Tokens of each message of the model. */
  readonly tokens = new Map<string, Tokens>()

  constructor(messageId: string) {
    this.messageId = messageId
  }

  /** Notes what a message of the model has used so far. */
  use(id: string, tokens: Partial<Tokens>): void {
    this.tokens.set(id, { ...(this.tokens.get(id) ?? noTokens), ...tokens })
  }
}
