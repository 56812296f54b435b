/** Our running turn, over all the processes it takes. */
import { noTokens, type Tokens } from "@reprise/protocol"
import { Deferred } from "effect"
import type { AgentError, AgentErrorKind } from "../../AgentError.ts"
import type { PromptReply, TurnOutcome } from "../../AgentRuntimeShape.ts"
import type { PendingPrompt } from "../../RuntimeEvent.ts"
import { TextThrottle } from "../../TextThrottle.ts"

export interface Waiting {
  readonly prompt: PendingPrompt
  readonly answer: Deferred.Deferred<PromptReply>
}

export interface Retrying {
  readonly attempt: number
  readonly kind: AgentErrorKind
  readonly message: string
  readonly untilMs: number
  /** When Claude first waited for the vendor. */
  readonly sinceMs: number
}

/** The process that currently works on the turn. */
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
  /** Whether events of it were published, so that its end must be published too. */
  announced = false
  aborted = false
  /** The model messages being written: the agent's own, and one for each subagent that it waits for. */
  readonly writing = new Map<string | null, string>()
  /** What the agent itself writes. */
  readonly words = new TextThrottle()
  /** Whether the words that are held back will be told in a moment. */
  tellsWords = false
  /** Tokens of each model message. */
  readonly tokens = new Map<string, Tokens>()

  constructor(messageId: string) {
    this.messageId = messageId
  }

  /** Records what a model message has used so far. */
  use(id: string, tokens: Partial<Tokens>): void {
    this.tokens.set(id, { ...(this.tokens.get(id) ?? noTokens), ...tokens })
  }
}
