import type { ModelMessage, ModelRequest, OfferedTool } from "../../src/player/ModelRequest.ts"

export const user = (text: string): ModelMessage => ({ role: "user", text })
export const says = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] })
export const calls = (tool: string, args: unknown = {}): ModelMessage => ({
  role: "assistant",
  text: "",
  toolCalls: [{ callId: "c", tool, args }]
})
export const result = (text: string): ModelMessage => ({ role: "tool", callId: "c", text })

const openCodeTools: ReadonlyArray<OfferedTool> = [
  { name: "bash", properties: ["command", "timeout", "description"], required: ["command", "description"] },
  { name: "write", properties: ["content", "filePath"], required: ["content", "filePath"] },
  { name: "edit", properties: ["filePath", "oldString", "newString"], required: ["filePath"] },
  { name: "read", properties: ["filePath"], required: ["filePath"] }
]
export const claudeTools: ReadonlyArray<OfferedTool> = [
  { name: "Bash", properties: ["command", "description"], required: ["command"] },
  { name: "Write", properties: ["file_path", "content"], required: ["file_path", "content"] },
  { name: "Edit", properties: ["file_path", "old_string", "new_string"], required: ["file_path"] }
]

/** A call to the model in session `s1` with OpenCode's tools; `overrides` replace its fields. */
export const request = (
  messages: ReadonlyArray<ModelMessage>,
  overrides: Partial<ModelRequest> = {}
): ModelRequest => ({
  protocol: "openai",
  model: "scripted",
  effort: "",
  session: "s1",
  stream: true,
  includeUsage: true,
  system: "",
  messages,
  tools: openCodeTools,
  promptText: JSON.stringify(messages),
  ...overrides
})
