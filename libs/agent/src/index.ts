/**
 * `AgentRuntime`, the port through which sessions are hosted, and its adapters: OpenCode (`layerOpenCode`), Claude
 * (`layerClaude`), any agent over the Agent Client Protocol (`layerAcp`) and one in memory for tests
 * (`AgentRuntime.layerMemory`). All pass one contract suite. Methods
 * fail with `AgentError` only, whose `kind` says what to do; `AgentRuntimes` gives a host's runtimes by name.
 */

export * from "./AgentError.ts"
export * from "./AgentRuntime.ts"
export * from "./AgentRuntimeShape.ts"
export type { AcpRuntimeOptions } from "./acp/AcpAdapter.ts"
export { layerAcp } from "./acp/AcpRuntime.ts"
export { agentOfCommand, installHint, type NamedAgent, namedAgents, runtimeNamed } from "./acp/namedAgents.ts"
export { type Probe, type ProbeFinding, probeAgent } from "./acp/probe.ts"
export { locateAcp } from "./acp/process/locateAcp.ts"
export { type AgentAllowance, knowsNeeds } from "./acp/process/sandboxNeeds.ts"
export { AgentNotInstalled, agentPackages, installAgent } from "./agentPackages.ts"
export type { ClaudeRuntimeOptions } from "./claude/ClaudeAdapter.ts"
export { layerClaude } from "./claude/ClaudeRuntime.ts"
export { ClaudeNotInstalled, locateClaude } from "./claude/sdk/ClaudeSdk.ts"
export { claudeLogin } from "./claude/sdk/login.ts"
export * from "./Message.ts"
export {
  MemoryControl,
  type MemoryOptions,
  type MemoryScript,
  type MemoryStep,
  type MemoryTurn
} from "./memory/MemoryScript.ts"
export type { OpenCodeRuntimeOptions } from "./opencode/OpenCodeAdapter.ts"
export { layerOpenCode } from "./opencode/OpenCodeRuntime.ts"
export { locateOpenCode, openCodeVersion } from "./opencode/server/locateOpenCode.ts"
export type { Connection } from "./opencode/server/OpenCodeEndpoint.ts"
export { type OpenCodeOptions, OpenCodeServer, type OpenCodeServerShape } from "./opencode/server/OpenCodeServer.ts"
export * from "./opencode/server/OpenCodeUnavailable.ts"
export { unguardedBy } from "./opencode/server/ownSettings.ts"
export { allTrusted, type ProjectSettings, type ProjectVerdict } from "./ProjectSettings.ts"
export { type PromptIds, promptIds } from "./promptIds.ts"
export * from "./RuntimeEvent.ts"
export { noRules, type PermissionRules, RememberedRule, ruleText } from "./rules/PermissionRules.ts"
export type { RuleBook } from "./rules/RuleBook.ts"
