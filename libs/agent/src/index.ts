/** The AgentRuntime port, and its adapters: OpenCode, Claude, and one in memory. */
export * from "./AgentError.ts"
export * from "./AgentRuntime.ts"
export * from "./AgentRuntimeShape.ts"
export * from "./AgentRuntimes.ts"
export { type ClaudeRuntimeOptions, layerClaude } from "./claude/ClaudeRuntime.ts"
export { ClaudeNotInstalled } from "./claude/ClaudeUnavailable.ts"
export { locateClaude } from "./claude/loadSdk.ts"
export * from "./Message.ts"
export {
  MemoryControl,
  type MemoryOptions,
  type MemoryScript,
  type MemoryStep,
  type MemoryTurn
} from "./memory/MemoryScript.ts"
export { locateOpenCode, openCodeVersion } from "./opencode/locateOpenCode.ts"
export type { Connection } from "./opencode/OpenCodeEndpoint.ts"
export { layerOpenCode, type OpenCodeRuntimeOptions } from "./opencode/OpenCodeRuntime.ts"
export { type OpenCodeOptions, OpenCodeServer, type OpenCodeServerShape } from "./opencode/OpenCodeServer.ts"
export * from "./opencode/OpenCodeUnavailable.ts"
export { type PromptIds, promptIds } from "./promptIds.ts"
export * from "./RuntimeEvent.ts"
