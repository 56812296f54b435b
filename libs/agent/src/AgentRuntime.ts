/** The port as a service, and the runtimes of a host by name. */
import type { RuntimeName } from "@reprise/protocol"
import { Context, Effect, Layer } from "effect"
import { AgentError } from "./AgentError.ts"
import type { AgentRuntimeShape } from "./AgentRuntimeShape.ts"
import type { MemoryOptions } from "./memory/MemoryScript.ts"
import { makeMemoryRuntime } from "./memory/makeMemoryRuntime.ts"

/** The runtime that a session lives in. */
export class AgentRuntime extends Context.Service<AgentRuntime, AgentRuntimeShape>()("@reprise/agent/AgentRuntime") {
  /** A runtime in memory that plays a script, for tests. */
  static readonly layerMemory = (options: MemoryOptions) => Layer.effect(AgentRuntime, makeMemoryRuntime(options))
}

/** Each session belongs to one of the host's runtimes. */
export interface AgentRuntimesShape {
  readonly names: ReadonlyArray<RuntimeName>
  /** Fails for a runtime that this host does not run. */
  readonly get: (name: RuntimeName) => Effect.Effect<AgentRuntimeShape, AgentError>
}

const byName = (runtimes: ReadonlyArray<AgentRuntimeShape>): AgentRuntimesShape => {
  const names = runtimes.map((runtime) => runtime.name)
  return {
    names,
    get: (name) => {
      const runtime = runtimes.find((it) => it.name === name)
      if (runtime !== undefined) return Effect.succeed(runtime)
      const only = names.length === 0 ? "" : `, only ${names.join(" and ")}`
      const next = name.startsWith("acp:")
        ? "Set runtime in reprise.toml to it where its sessions are."
        : "Choose one of them with --runtime."
      const detail = `This host does not run ${name}${only}. ${next}`
      return new AgentError({ kind: "other", operation: "get", detail, sessionUsable: false })
    }
  }
}

export class AgentRuntimes extends Context.Service<AgentRuntimes, AgentRuntimesShape>()(
  "@reprise/agent/AgentRuntimes"
) {
  static readonly make = (runtimes: ReadonlyArray<AgentRuntimeShape>) => AgentRuntimes.of(byName(runtimes))

  /** A host with several runtimes. */
  static readonly layerOf = <E, R>(...layers: ReadonlyArray<Layer.Layer<AgentRuntime, E, R>>) =>
    Layer.effect(
      AgentRuntimes,
      Effect.map(
        Effect.forEach(layers, (layer) => Effect.map(Layer.build(layer), Context.get(AgentRuntime))),
        AgentRuntimes.make
      )
    )

  /** A host with a single runtime. */
  static readonly layerSingle = Layer.effect(
    AgentRuntimes,
    Effect.map(AgentRuntime, (runtime) => AgentRuntimes.make([runtime]))
  )
}
