/** The port as a service. */
import { Context, Layer } from "effect"
import type { AgentRuntimeShape } from "./AgentRuntimeShape.ts"
import type { MemoryOptions } from "./memory/MemoryScript.ts"
import { makeMemoryRuntime } from "./memory/makeMemoryRuntime.ts"

export class AgentRuntime extends Context.Service<AgentRuntime, AgentRuntimeShape>()("@reprise/agent/AgentRuntime") {
  /** A runtime in memory that plays a script, for tests. */
  static readonly layerMemory = (options: MemoryOptions) => Layer.effect(AgentRuntime, makeMemoryRuntime(options))
}
