/** Pipes and devices where agents look for instructions and settings: whatever the runtime, the prompt says where they are. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type AgentError, AgentRuntime, type MemoryScript, promptIds } from "../src/index.ts"
import { withReadableInstructions } from "../src/instructionFiles.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-instructions-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const script: MemoryScript = ({ text }) => {
  const [word, path = ""] = text.split(" ")
  if (word !== "break") return [{ say: text }]
  execFileSync("mkfifo", [path])
  return [{ fail: "other", message: "Unexpected server error" }]
}

const prompt = Effect.fnUntraced(function* (directory: string, text: string) {
  const runtime = withReadableInstructions(yield* AgentRuntime)
  const runtimeSessionId = yield* runtime.create({ directory, title: "instructions", permissions: "all" })
  return yield* runtime.prompt({ runtimeSessionId, directory, promptId: promptIds(0, text, 0), text })
})

const kinds: ReadonlyArray<readonly [string, (path: string) => void]> = [
  ["named pipe", (path) => execFileSync("mkfifo", [path])],
  ["device", (path) => symlinkSync("/dev/zero", path)]
]

const rows = ["AGENTS.md", "CLAUDE.md", "opencode.json", ".opencode/opencode.jsonc", ".claude", ".mcp.json"].flatMap(
  (name) => kinds.map(([kind, put]) => ({ name, kind, put }))
)

describe("a session in a folder", () => {
  it.effect.each(rows)("begins no turn, and says what to do, where $name is a $kind", ({ kind, name, put }) =>
    Effect.gen(function* () {
      const directory = yield* folder
      const runtime = withReadableInstructions(yield* AgentRuntime)
      const about = { directory, title: "instructions", permissions: "all" } as const
      const runtimeSessionId = yield* runtime.create(about)
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      put(join(directory, name))
      const starts: ReadonlyArray<Effect.Effect<unknown, AgentError>> = [
        runtime.prompt({ runtimeSessionId, directory, promptId: promptIds(0, name, 0), text: "hello" }),
        runtime.create(about),
        runtime.fork({ ...about, runtimeSessionId, through: "none" })
      ]
      for (const start of starts) {
        const error = yield* Effect.flip(start)
        assert.include(error.message, `${join(directory, name)} is a ${kind}, and agents look there`)
        assert.match(error.message, /or remove it, and continue\.$/)
        assert.isTrue(error.sessionUsable)
      }
    }).pipe(Effect.provide(AgentRuntime.layerMemory({ script })))
  )

  it.effect(
    "says it too of a file that was exchanged while the turn ran, instead of what the agent's runtime says",
    () =>
      Effect.gen(function* () {
        const directory = yield* folder
        const error = yield* Effect.flip(prompt(directory, `break ${join(directory, "CLAUDE.md")}`))
        assert.match(error.message, /CLAUDE\.md is a named pipe/)
      }).pipe(Effect.provide(AgentRuntime.layerMemory({ script })))
  )

  it.effect("is not kept from a turn by files, folders, links to them and links that lead nowhere", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      writeFileSync(join(directory, "AGENTS.md"), "")
      symlinkSync("AGENTS.md", join(directory, "CLAUDE.md"))
      symlinkSync("nowhere", join(directory, ".mcp.json"))
      mkdirSync(join(directory, ".claude"))
      assert.strictEqual((yield* prompt(directory, "hello")).text, "hello")
    }).pipe(Effect.provide(AgentRuntime.layerMemory({ script })))
  )
})
