/**
 * What Reprise uses of the Claude agent SDK. `npm ci` leaves the SDK out, and its types with it; a test checks that the
 * SDK's own types fit these (`test/claude/fits.ts`).
 */
import type { PipedProcess } from "@reprise/process"
import type { efforts } from "../efforts.ts"

type Uuid = `${string}-${string}-${string}-${string}-${string}`

/** A request to use a tool is allowed, perhaps with another input, or refused; `interrupt` ends the turn. */
export type PermissionResult =
  | { readonly behavior: "allow"; readonly updatedInput: Record<string, unknown> }
  | { readonly behavior: "deny"; readonly message: string; readonly interrupt: boolean }

export type CanUseTool = (
  tool: string,
  input: Record<string, unknown>,
  options: { readonly signal: AbortSignal; readonly toolUseID: string }
) => Promise<PermissionResult>

export type Effort = (typeof efforts)[number]

/** The process that the SDK wants started. */
interface Spawn {
  readonly command: string
  readonly args: Array<string>
  readonly cwd?: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface SdkOptions {
  readonly cwd: string
  readonly env: Record<string, string>
  readonly pathToClaudeCodeExecutable: string
  /** The session to go on with, or the id and title of a new one. */
  readonly resume?: string
  readonly sessionId?: string
  readonly title?: string
  readonly model?: string
  readonly effort?: Effort
  readonly maxTurns?: number
  readonly includePartialMessages?: boolean
  readonly permissionMode?: "default"
  readonly canUseTool?: CanUseTool
  readonly disallowedTools?: Array<string>
  readonly settings?: { readonly permissions?: { readonly ask: Array<string>; readonly deny: Array<string> } }
  readonly settingSources?: Array<"user" | "project" | "local">
  readonly strictMcpConfig?: boolean
  readonly systemPrompt?: { readonly type: "preset"; readonly preset: "claude_code"; readonly append?: string }
  readonly spawnClaudeCodeProcess?: (wanted: Spawn) => PipedProcess
}

/** A prompt for the agent. */
export interface SentMessage {
  readonly type: "user"
  readonly uuid: Uuid
  readonly session_id: string
  readonly parent_tool_use_id: null
  readonly message: { readonly role: "user"; readonly content: string }
}

/** A message of the agent. Those that are read are below; the others are passed over. */
export interface SdkMessage {
  readonly type: string
}

interface Delta {
  readonly type: "input_json_delta" | "citations_delta" | "signature_delta" | "compaction_delta"
}

interface Usage {
  readonly input_tokens: number
  readonly cache_read_input_tokens: number | null
  readonly cache_creation_input_tokens: number | null
}

type StreamEvent =
  | { readonly type: "message_start"; readonly message: { readonly id: string; readonly usage: Usage } }
  | { readonly type: "content_block_start"; readonly content_block: { readonly type: string } }
  | {
      readonly type: "content_block_delta"
      readonly index: number
      readonly delta:
        | { readonly type: "text_delta"; readonly text: string }
        | { readonly type: "thinking_delta"; readonly thinking: string }
        | Delta
    }
  | { readonly type: "message_delta"; readonly usage: { readonly output_tokens: number } }
  | { readonly type: "content_block_stop" | "message_stop" }

/** A part of an answer while it is written, by a subagent if a tool's use is its parent. */
export interface StreamedMessage {
  readonly type: "stream_event"
  readonly event: StreamEvent
  readonly parent_tool_use_id: string | null
}

export interface AssistantMessage {
  readonly type: "assistant"
  readonly error?: string
  readonly message: { readonly content: ReadonlyArray<{ readonly type: string }> }
}

export interface ToolUse {
  readonly type: "tool_use"
  readonly name: string
  readonly input: unknown
}

/** Claude waits for the model's vendor. Without a status there was no answer. */
export interface RetryMessage {
  readonly type: "system"
  readonly subtype: "api_retry"
  readonly attempt: number
  readonly retry_delay_ms: number
  readonly error: string
  readonly error_status: number | null
}

export interface ResultMessage {
  readonly type: "result"
  readonly subtype: string
}

export const isStreamed = (message: SdkMessage): message is StreamedMessage => message.type === "stream_event"
export const isAssistant = (message: SdkMessage): message is AssistantMessage => message.type === "assistant"
export const isToolUse = (block: { readonly type: string }): block is ToolUse => block.type === "tool_use"
export const isResult = (message: SdkMessage): message is ResultMessage => message.type === "result"
export const isRetry = (message: SdkMessage): message is RetryMessage =>
  message.type === "system" && "subtype" in message && message.subtype === "api_retry"

interface Query extends AsyncIterable<SdkMessage> {
  readonly interrupt: () => Promise<unknown>
  readonly supportedModels: () => Promise<ReadonlyArray<{ readonly value: string }>>
  readonly close: () => void
}

/** The SDK's function `query`. */
export type StartQuery = (query: { readonly prompt: AsyncIterable<SentMessage>; readonly options: SdkOptions }) => Query
