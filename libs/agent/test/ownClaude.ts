/** Prompts a session until it is killed. Arguments: state directory, root, model's URL, session, message id, text. */
import { Effect } from "effect"
import { AgentRuntime, layerClaude } from "../src/index.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"

const [stateDirectory = "", root = "", url = "", runtimeSessionId = "", messageId = "", text = ""] =
  process.argv.slice(2)

const prompt = Effect.gen(function* () {
  const runtime = yield* AgentRuntime
  const promptId = { messageId, partId: messageId }
  return yield* runtime.prompt({ runtimeSessionId, directory: root, promptId, text })
})

Effect.runFork(Effect.provide(prompt, layerClaude({ stateDirectory, environment: claudeEnvironment(root, url) })))
