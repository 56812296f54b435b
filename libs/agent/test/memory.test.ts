import { Layer } from "effect"
import { AgentRuntime, MemoryControl, type MemoryScript } from "../src/index.ts"
import { agentRuntimeContract } from "./contract/contract.ts"
import { World } from "./contract/World.ts"

const script: MemoryScript = ({ attempt, text, turn }) => {
  const [word, ...rest] = text.split(" ")
  const words = rest.join(" ")
  switch (word) {
    case "say":
      return [{ say: words }]
    case "turn":
      return [{ say: `turn ${turn}` }]
    case "hold":
      return [{ hold: words }, { say: "released" }]
    case "run":
      return [{ tool: "bash", ask: `bash: ${words}` }, { say: "ran" }]
    case "choose":
      return [{ question: "Which colour?", options: ["red", "green"] }, { say: "chosen" }]
    case "unauthorized":
      return [{ fail: "unauthorized", message: "no such key" }]
    case "limited":
      return attempt === 1
        ? [{ fail: "rate_limited", message: "too many requests", retryAfterMs: 3_600_000 }]
        : [{ say: "served" }]
    case "drop":
      return [{ hiccup: "connection reset" }, { say: "recovered" }]
    default:
      return []
  }
}

const control = new MemoryControl()

const world = Layer.merge(
  AgentRuntime.layerMemory({ script, control }),
  Layer.succeed(World, {
    directory: "/somewhere",
    modelCalls: control.modelCalls,
    release: (name) => control.release(name),
    reached: (name) => control.reached(name),
    crash: control.crash
  })
)

agentRuntimeContract("memory", world, ["files"])
