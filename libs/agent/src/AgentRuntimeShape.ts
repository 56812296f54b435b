/**
 * The port: what a runtime must offer to host sessions. OpenCode, Claude and a runtime in memory fulfil it and pass
 * one contract suite (`test/contract`).
 */
import type { ContextFill, PermissionMode, RuntimeName, Tokens } from "@reprise/protocol"
import type { Effect, Stream } from "effect"
import type { AgentError, AgentErrorKind } from "./AgentError.ts"
import type { Message } from "./Message.ts"
import type { PromptIds } from "./promptIds.ts"
import type { PendingPrompt, RuntimeEvent } from "./RuntimeEvent.ts"

export interface CreateSession {
  /** Absolute path of the working tree. */
  readonly directory: string
  /** Given, it saves a call of the model. */
  readonly title: string
  readonly permissions: PermissionMode
  /** `provider/model`; absent: the runtime's default. */
  readonly model?: string
}

export interface Prompt {
  readonly runtimeSessionId: string
  readonly directory: string
  /** Chosen once and written down before the first try; the same in every further try. */
  readonly promptId: PromptIds
  readonly text: string
  readonly model?: string
  /** The runtime's own name for a mode of working, such as `build` or `plan`. */
  readonly agent?: string
  /** How often the model may be asked before the turn is cut off (`output-limit`); for runtimes that can count. */
  readonly maxTurns?: number
}

/**
 * `finished`: the agent had no more to do. `output-limit`: the model, or the turn, was cut off by a limit. `refused`: a permission was refused
 * or a question dismissed, which ends a turn. `other`: whatever else the model's vendor stops for.
 */
export type StopReason = "finished" | "output-limit" | "refused" | "other"

export interface TurnOutcome {
  /** The text of the last assistant message. */
  readonly text: string
  readonly stopReason: StopReason
  /** Summed over all messages that the prompt led to, subagents' and compactions' included. */
  readonly tokens: Tokens
  /** US dollars. */
  readonly cost: number
  readonly toolCalls: number
  /** How full the conversation was at the last call of the model, where the runtime tells. */
  readonly context?: ContextFill
  /** How often the prompt was sent before it was answered, its runtime having gone away in between. Absent: once. */
  readonly attempts?: number
}

export type SessionState =
  | { readonly _tag: "missing" }
  /** Without a single message: nothing to resume. */
  | { readonly _tag: "empty" }
  | { readonly _tag: "idle" }
  | { readonly _tag: "busy" }
  /** The model's vendor failed and the runtime will try again. */
  | {
      readonly _tag: "retrying"
      readonly attempt: number
      readonly kind: AgentErrorKind
      readonly message: string
      readonly retryAfterMs: number
    }
  | { readonly _tag: "prompting"; readonly prompt: PendingPrompt }

export interface LastMessage {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly causePromptId?: string
  /** An assistant message that its turn ended with; false while it is written, or when it was cut off. */
  readonly finished: boolean
  readonly atMs: number
}

export interface Inspection {
  readonly state: SessionState
  readonly messageCount: number
  readonly tokens: Tokens
  readonly cost: number
  readonly lastMessage?: LastMessage
}

export type PromptReply =
  | { readonly kind: "permission"; readonly reply: "once" | "always" | "reject"; readonly message?: string }
  /** Labels chosen, for each question. */
  | { readonly kind: "question"; readonly answers: ReadonlyArray<ReadonlyArray<string>> }
  | { readonly kind: "question"; readonly dismiss: true }

export interface Reply {
  readonly runtimeSessionId: string
  readonly promptId: string
  readonly reply: PromptReply
}

/** A program that opens the runtime's own interface in a session. Secrets are in `env`, never in `argv`. */
export interface AttachCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly env: Readonly<Record<string, string>>
}

/** For `doctor`. */
export interface RuntimeCheck {
  readonly name: RuntimeName
  readonly version: string
  /** Whether it answers now; a runtime that is started on demand and has not been is not running, and fine. */
  readonly running: boolean
  /** Where its program or server is. */
  readonly location: string
}

export interface AgentRuntimeShape {
  readonly name: RuntimeName
  /** Makes an empty session and gives its id. */
  readonly create: (session: CreateSession) => Effect.Effect<string, AgentError>
  /**
   * Runs a whole turn, for hours if need be, and waits out lost connections and restarts of the runtime. Idempotent by
   * the prompt's ids: again after the end it gives the same outcome without asking the model; during the turn it joins
   * it; after a crash or a failure it goes on. A turn that was aborted fails as `aborted`. Interrupting it does not
   * stop the turn.
   */
  readonly prompt: (prompt: Prompt) => Effect.Effect<TurnOutcome, AgentError>
  /** Stops the turn that runs, if any. A session that is idle or missing is left alone. */
  readonly abort: (runtimeSessionId: string) => Effect.Effect<void, AgentError>
  /** The truth, asked now. A missing session is a state, not a failure. */
  readonly inspect: (runtimeSessionId: string) => Effect.Effect<Inspection, AgentError>
  /** From now on, for ever: dropped streams are opened again and what was missed is made up for by asking. */
  readonly events: Stream.Stream<RuntimeEvent>
  /** `gone`: nobody waits for this answer any more. */
  readonly reply: (reply: Reply) => Effect.Effect<"delivered" | "gone", AgentError>
  /** What the agents in a directory wait for. */
  readonly pendingPrompts: (directory: string) => Effect.Effect<ReadonlyArray<PendingPrompt>, AgentError>
  readonly history: (runtimeSessionId: string) => Effect.Effect<ReadonlyArray<Message>, AgentError>
  /** A copy of the conversation under a new id, with the same permissions. */
  readonly fork: (runtimeSessionId: string) => Effect.Effect<string, AgentError>
  readonly attachCommand: (runtimeSessionId: string) => Effect.Effect<AttachCommand, AgentError>
  /** `provider/model` of every model that can be used in a directory. */
  readonly models: (directory: string) => Effect.Effect<ReadonlyArray<string>, AgentError>
  readonly check: Effect.Effect<RuntimeCheck, AgentError>
}
