/**
 * `reprise up --web` of the current directory, at which nobody looks, with agents in memory that need a human at once, or with
 * `working` as its argument work on without an end. Broker, actors, workspaces and everything else are real. OpenCode
 * would run as a separate process anyway.
 */
import { AgentRuntime, AgentRuntimes, type MemoryScript } from "@reprise/agent"
import { Effect, Fiber, Layer } from "effect"
import { loadConfig } from "../../../cli/src/config/loadConfig.ts"
import { prepareConsole } from "../../../cli/src/flows/console/openConsole.ts"
import { serveProject } from "../../../cli/src/flows/serve/serveProject.ts"
import { findProject } from "../../../cli/src/project/findProject.ts"

const report = JSON.stringify({
  result: "needs_human",
  reason: "Which of the two ways? The plan names neither of them."
})

const working: MemoryScript = () => [{ tool: "bash npm test" }, { hold: "forever" }]

const asking: MemoryScript = ({ turn }) => [
  { say: turn === 1 ? "There are two ways, and I do not know which." : report, tokens: { input: 9_000, output: 90 } }
]

const script = process.argv[2] === "working" ? working : asking

const runtimes = AgentRuntimes.layerSingle.pipe(Layer.provide(AgentRuntime.layerMemory({ script })))

const serving = Effect.gen(function* () {
  const project = yield* findProject(process.cwd())
  const { settings } = yield* loadConfig(project.root)
  const web = yield* prepareConsole(project, { ...settings, web: { ...settings.web, port: 0 } }, false)
  return yield* serveProject({ project, settings, json: false, runtimes, web })
})

const fiber = Effect.runFork(serving)
process.on("SIGTERM", () => Effect.runFork(Fiber.interrupt(fiber)))
await Effect.runPromiseExit(Fiber.await(fiber))
process.exit(0)
