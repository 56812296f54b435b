/** Compiles if the SDK's own types fit what `libs/agent` takes them to be. */
import { query, type SDKMessage } from "@anthropic-ai/claude-agent-sdk"
import type {
  AssistantMessage,
  ResultMessage,
  RetryMessage,
  StartQuery,
  StreamedMessage,
  ToolUse
} from "../../libs/agent/src/claude/sdk/SdkContract.ts"

type Of<Type extends SDKMessage["type"]> = Extract<SDKMessage, { type: Type }>
type Block = Of<"assistant">["message"]["content"][number]

export const start: StartQuery = query

/** What each message that Reprise reads is to the SDK, taken for what it is to Reprise. */
export const read = {
  streamed: (message: Of<"stream_event">): StreamedMessage => message,
  assistant: (message: Of<"assistant">): AssistantMessage => message,
  toolUse: (block: Extract<Block, { type: "tool_use" }>): ToolUse => block,
  progress: ({ type }: Of<"tool_progress">): "tool_progress" => type,
  result: (message: Of<"result">): ResultMessage => message,
  limited: (_: Extract<Of<"result">, { subtype: "error_max_turns" }>["subtype"]) => {},
  retry: (message: Extract<SDKMessage, { subtype: "api_retry" }>): RetryMessage => message
}

const narrowed = <A>(_: [A] extends [never] ? never : "there is such a message") => {}
narrowed<Of<"stream_event">>("there is such a message")
narrowed<Of<"assistant">>("there is such a message")
narrowed<Of<"tool_progress">>("there is such a message")
narrowed<Of<"result">>("there is such a message")
narrowed<Extract<Block, { type: "tool_use" }>>("there is such a message")
narrowed<Extract<SDKMessage, { subtype: "api_retry" }>>("there is such a message")
