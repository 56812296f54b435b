/**
 * The port that hosts sessions (docs/design/sessions.md#the-port). OpenCode, Claude, agents over the Agent
 * Client Protocol and a runtime in memory implement it and pass one contract suite (`test/contract`).
 */
import type { ContextFill, PermissionMode, Role, RuntimeId, RuntimeName, Tokens, Usage } from "@reprise/protocol"
import type { Effect, Stream } from "effect"
import type { AgentError, AgentErrorKind } from "./AgentError.ts"
import type { Message } from "./Message.ts"
import type { PromptIds } from "./promptIds.ts"
import type { PendingPrompt, RuntimeEvent } from "./RuntimeEvent.ts"

export interface CreateSession {
  /** Absolute path of the working tree. */
  readonly directory: string
  /** A given title saves the model call that would make one. */
  readonly title: string
  readonly permissions: PermissionMode
  /** Whose session it will be; absent: not known yet. */
  readonly role?: Role
  /** `provider/model`; absent: the runtime's default. */
  readonly model?: string
}

/** The copy of a session: a session of its own, with a directory, a title and permissions of its own. */
export interface ForkSession extends CreateSession {
  /** The session that is copied. */
  readonly runtimeSessionId: RuntimeId
  /** The message id of a prompt: what was said after its turn is left out. Absent: nothing is. */
  readonly through?: string
}

export interface Prompt {
  readonly runtimeSessionId: RuntimeId
  readonly directory: string
  /** Chosen and recorded before the first try, and the same in every later try. */
  readonly promptId: PromptIds
  readonly text: string
  /** What its commands may reach from the sandbox follows from it; absent: nothing. */
  readonly role?: Role
  /**
   * A commit (whole hash). What the repository tells agents, such as in its `AGENTS.md`, is what this commit says, as far as the
   * runtime supports it (docs/agents.md#instructions-of-a-reviewer). Absent: what is in the directory.
   */
  readonly instructionsFrom?: string
  readonly model?: string
  /** A variant of the model, such as how much it is to think, as the runtime names it; absent: the runtime's default. */
  readonly variant?: string
  /** The runtime's name for a way of working, such as `build` or `plan`. */
  readonly agent?: string
  /** How many rounds of tool calls the turn may make before it is cut off (`output-limit`); absent: the runtime's own limit. */
  readonly maxTurns?: number
}

/**
 * `finished`: the agent ended its turn. `output-limit`: a limit cut off the model or the turn. `refused`: a human refused
 * a permission without words or dismissed a question, which ends a turn. `other`: any other reason of the model's vendor.
 */
export type StopReason = "finished" | "output-limit" | "refused" | "other"

export interface TurnOutcome {
  /** The text of the last assistant message. */
  readonly text: string
  readonly stopReason: StopReason
  /** Sum over all messages of the turn, including those of subagents and of shortening the conversation. */
  readonly tokens: Tokens
  /** US dollars. */
  readonly cost: number
  readonly toolCalls: number
  /** The model that answered last and why it stopped, in the runtime's own words. */
  readonly model?: string
  readonly finish?: string
  /** How full the context was at the last model call, if the runtime reports it. */
  readonly context?: ContextFill
  /**
   * The session was prompted again after this turn's last answer: those words are newer than its text. As it is when the
   * outcome is asked for, unlike the rest.
   */
  readonly spokenAfter?: boolean
  /** The prompt that the last answer is to, where somebody else spoke during the turn. */
  readonly answered?: string
  /** How often the prompt was sent, more than once after the runtime was lost. Absent: once. */
  readonly attempts?: number
}

export type SessionState =
  | { readonly _tag: "missing" }
  /** No message yet. */
  | { readonly _tag: "empty" }
  | { readonly _tag: "idle" }
  | { readonly _tag: "busy" }
  /** The model's vendor failed and the runtime will try again by itself. */
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
  /** For an assistant message: whether it ended its turn. False while it is written, and when it was cut off. */
  readonly finished: boolean
  readonly atMs: number
}

export interface Inspection {
  readonly state: SessionState
  readonly messageCount: number
  /** What the session and its subagents have used, whoever prompted them. Calls whose answers were deleted are missing. */
  readonly usage: Usage
  /** The model of the newest answer, as `TurnOutcome` names it. */
  readonly model?: string
  readonly lastMessage?: LastMessage
}

/** `message`: what a human says with a rejection. The turn goes on with it; a rejection without words ends the turn. */
export type PromptReply =
  | { readonly kind: "permission"; readonly reply: "once" | "always" | "reject"; readonly message?: string }
  /** The chosen labels of each question. */
  | { readonly kind: "question"; readonly answers: ReadonlyArray<ReadonlyArray<string>> }
  | { readonly kind: "question"; readonly dismiss: true }

export interface Reply {
  readonly runtimeSessionId: RuntimeId
  readonly promptId: string
  readonly reply: PromptReply
}

/** A command that opens the runtime's own interface in a session. Secrets are in `env`, never in `argv`. */
export interface AttachCommand {
  readonly argv: readonly [string, ...ReadonlyArray<string>]
  readonly env: Readonly<Record<string, string>>
}

/** For `doctor`. */
export interface RuntimeCheck {
  readonly name: RuntimeName
  readonly version: string
  /** Whether it answers now. A runtime that is started on demand can be fine without running. */
  readonly running: boolean
  /** Where its program or server is. */
  readonly location: string
}

export interface AgentRuntimeShape {
  readonly name: RuntimeName
  /** Makes an empty session and returns its id. Not idempotent: a repeated call makes another session. */
  readonly create: (session: CreateSession) => Effect.Effect<string, AgentError>
  /**
   * Runs a whole turn, for hours if necessary, and survives lost connections and restarts of the runtime. Idempotent by
   * the prompt's ids: called again during the turn it joins the turn; after the end it returns the same outcome without
   * a model call; after a crash or a failure it continues the turn. Fails as `busy` while another turn runs, and as
   * `aborted` for a turn that was aborted, also later. Surprise: interrupting the call does not stop the turn; only
   * `abort` does.
   *
   * @example runtime.prompt({ runtimeSessionId, directory, promptId: promptIds(nowMs, turnId, 0), text: "Do task 1." })
   */
  readonly prompt: (prompt: Prompt) => Effect.Effect<TurnOutcome, AgentError>
  /** Stops the running turn and returns when it has ended. Does nothing in a session that is idle or missing. */
  readonly abort: (runtimeSessionId: RuntimeId) => Effect.Effect<void, AgentError>
  /** The state of the session, asked from the runtime now. A missing session is a state, not a failure. */
  readonly inspect: (runtimeSessionId: RuntimeId) => Effect.Effect<Inspection, AgentError>
  /**
   * Events from the moment of subscription, without end. Dropped connections are reopened and missed changes looked up,
   * so an event can be late but the last state is right. Events are for speed; decisions use `inspect`.
   */
  readonly events: Stream.Stream<RuntimeEvent>
  /** Answers a prompt. `gone`: the agent no longer waits for it, for example because somebody else answered. */
  readonly reply: (reply: Reply) => Effect.Effect<"delivered" | "gone", AgentError>
  /** The open prompts of all sessions in a directory. */
  readonly pendingPrompts: (directory: string) => Effect.Effect<ReadonlyArray<PendingPrompt>, AgentError>
  /** The whole conversation in messages that every runtime shares. Of a very long block only its beginning and its end. */
  readonly history: (runtimeSessionId: RuntimeId) => Effect.Effect<ReadonlyArray<Message>, AgentError>
  /**
   * Copies a conversation to a new session and returns its id; the copied session stays as it is, also while it is at work.
   * The copies of messages may have other ids, and what they used counts in the new session's total. Fails where the
   * runtime cannot copy this much, or to this directory. Not idempotent: a repeated call makes another session.
   */
  readonly fork: (session: ForkSession) => Effect.Effect<string, AgentError>
  /** The command with which a human opens the session in the runtime's own interface. */
  readonly attachCommand: (runtimeSessionId: RuntimeId) => Effect.Effect<AttachCommand, AgentError>
  /** Every model that can be used in a directory, as `provider/model`. */
  readonly models: (directory: string) => Effect.Effect<ReadonlyArray<string>, AgentError>
  /** Whether the runtime is installed, and where. */
  readonly check: Effect.Effect<RuntimeCheck, AgentError>
}
