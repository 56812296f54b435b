/** A real OpenCode with a scripted model, in directories of its own, without a network. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { openCodeConfig, openCodeFolders, ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Effect, Layer, Option } from "effect"
import { layerOpenCode, OpenCodeServer } from "../../src/index.ts"
import { modelWorld } from "./modelWorld.ts"
import { Places } from "./Places.ts"
import { captured, commonRules, vendorSays } from "./rules.ts"

/** What the words of a world's agents mean to the model. */
const script: ScriptInput = {
  rules: [
    ...commonRules,
    { ...captured("fetch", "url"), reply: [{ toolCalls: [fetch()] }, { text: "fetched" }] },
    { match: { lastUser: "delegate" }, reply: [{ toolCalls: [delegate()] }, { text: "delegated" }] },
    { ...captured("resume", "task"), reply: [{ toolCalls: [resume()] }, { text: "resumed" }] },
    {
      match: { lastUser: "endless" },
      // The third round waits: OpenCode would be in its middle when it is told to stop.
      reply: [{ bash: "true" }, { bash: "true" }, { hold: "limit", bash: "true" }, { text: "late" }]
    },
    { match: { lastUser: "choose" }, reply: [{ toolCalls: [choice()] }, { text: "chosen" }] },
    {
      match: { lastUser: "overflow" },
      times: 1,
      reply: { fault: { times: 1000, status: 400, body: vendorSays("maximum context length is 128000 tokens") } }
    },
    { match: { kind: "summary" }, reply: { text: "the story so far" } },
    { match: { lastUser: "Continue if you have next steps" }, reply: { text: "continued after the summary" } }
  ]
}

function choice() {
  const options = ["red", "green"].map((label) => ({ label, description: "" }))
  return { tool: "question", args: { questions: [{ question: "Which colour?", header: "Colour", options }] } }
}

function fetch() {
  return { tool: "webfetch", args: { url: "{{url}}", format: "text" } }
}

function delegate() {
  return { tool: "task", args: { description: "part", prompt: "run echo delegated", subagent_type: "general" } }
}

function resume() {
  const { args, tool } = delegate()
  return { tool, args: { ...args, task_id: "{{task}}" } }
}

/** Milliseconds by which OpenCode's clock differs from the machine's. */
export const clockFile = (root: string): string => join(root, "clock.txt")

/** A plugin that lets a test set OpenCode's clock. */
const clockPlugin = (root: string): string => {
  const path = join(root, "clock.js")
  const file = JSON.stringify(clockFile(root))
  writeFileSync(
    path,
    `import { readFileSync } from "node:fs"
const now = Date.now
Date.now = () => now() + Number(readFileSync(${file}, "utf8"))
export const Clock = async () => ({})
`
  )
  writeFileSync(clockFile(root), "0")
  return pathToFileURL(path).href
}

/** The environment of an OpenCode that shares nothing with the user's, and keeps snapshots as theirs does. */
export const openCodeEnvironment = (root: string, baseURL: string) => ({
  PATH: process.env["PATH"],
  HOME: join(root, "home"),
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    ...openCodeConfig(baseURL, { snapshots: true }),
    plugin: [clockPlugin(root)]
  }),
  ...openCodeFolders(root)
})

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { root, stateDirectory } = yield* Places
    const { openaiUrl } = yield* ScriptedModel
    mkdirSync(join(root, "home"), { recursive: true })
    return OpenCodeServer.layer({ stateDirectory, environment: openCodeEnvironment(root, openaiUrl), warm: true })
  })
)

/** Kills the server alone, as the kernel would: not its guard, not its tools. */
export const killServer = Effect.gen(function* () {
  const { pid } = yield* OpenCodeServer
  const running = yield* pid
  if (Option.isSome(running)) process.kill(running.value, "SIGKILL")
})

const world = modelWorld(Effect.map(Effect.context<OpenCodeServer>(), (context) => Effect.provide(killServer, context)))

export const openCodeWorld = Layer.merge(world, layerOpenCode({ pollMs: 250, retryPatienceMs: 10_000 })).pipe(
  Layer.provideMerge(server),
  Layer.provideMerge(ScriptedModel.layer({ script })),
  Layer.provideMerge(Places.layer)
)
