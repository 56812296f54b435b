/** Activity in a runtime's sessions. Events are for speed; `inspect` is authoritative (docs/design/sessions.md#the-port). */
import type { Tokens } from "@reprise/protocol"
import type { AgentErrorKind } from "./AgentError.ts"

interface At {
  /** The root session: a subagent's activity is reported as its parent's. */
  readonly sessionId: string
  /** The message id of the prompt that caused this; absent when the runtime does not say. */
  readonly causePromptId?: string
}

export interface PromptOption {
  /** What to answer with: `once`, `always`, `reject`, or the label of a question's option. */
  readonly name: string
  readonly label: string
}

export interface Question {
  readonly question: string
  readonly options: ReadonlyArray<PromptOption>
  /** Whether more than one option can be chosen. */
  readonly multiple: boolean
}

/** A prompt that the agent waits on: a permission for a tool, or questions to a human. */
export interface PendingPrompt extends At {
  readonly promptId: string
  readonly kind: "permission" | "question"
  readonly text: string
  /** The options of the first question. */
  readonly options: ReadonlyArray<PromptOption>
  /** Empty for a permission. */
  readonly questions: ReadonlyArray<Question>
}

export type Evidence = "text" | "reasoning" | "tool" | "status"

export type RuntimeEvent =
  /** Text, reasoning or a tool call is being produced; at most one a second for each session and cause. */
  | (At & { readonly type: "working"; readonly evidence: Evidence })
  /** A piece of what is written, a few times a second at most; `omitted` characters were left out before it. */
  | (At & {
      readonly type: "words"
      readonly part: string
      readonly kind: "text" | "reasoning"
      readonly text: string
      readonly omitted: number
    })
  /**
   * A tool has started, with what it works on, or a step has ended. `tokens` and `cost` are those of this cause so far,
   * `contextTokens` the size of the newest model call.
   */
  | (At & {
      readonly type: "progress"
      readonly tool?: string
      readonly argument?: string
      readonly tokens: Tokens
      readonly cost?: number
      readonly contextTokens?: number
    })
  | (At & { readonly type: "idle" })
  | (PendingPrompt & { readonly type: "prompting" })
  /** Answered by anybody, or no longer needed. */
  | (At & { readonly type: "replied"; readonly promptId: string })
  /** A rule or the sandbox refused what the agent wanted to do. No question is raised, and the turn goes on. */
  | (At & {
      readonly type: "refused"
      readonly promptId: string
      readonly text: string
      readonly rule?: string
      /** What the sandbox refused to a command. */
      readonly sandbox?: "network" | "write"
    })
  /** `recovering`: the runtime tries again by itself, at the earliest in `retryAfterMs`. */
  | (At & {
      readonly type: "failed"
      readonly kind: AgentErrorKind
      readonly message: string
      readonly recovering: boolean
      readonly retryAfterMs?: number
    })
  /** The session was deleted, or its runtime has been unreachable for longer than the grace. */
  | (At & { readonly type: "gone" })
