// @module-tag long
/** Rules and modes over the Agent Client Protocol, with a real OpenCode: whatever it would do by itself, they decide before. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import type { PermissionMode } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Effect, Layer, Stream } from "effect"
import { AgentRuntime, layerAcp, locateOpenCode, type PermissionRules } from "../src/index.ts"
import { noRules } from "../src/rules/PermissionRules.ts"
import { rulesInMemory } from "../src/rules/RuleBook.ts"
import { acpEnvironment } from "./contract/acpWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds } from "./contract/World.ts"

type Step =
  | { readonly bash: string }
  | { readonly read: string }
  | { readonly write: { readonly path: string; readonly content: string } }

/** What an agent tries, by the words that it is prompted with. Each command would leave a file. */
const tries = (directory: string) =>
  new Map<string, Step>([
    ["plain", { bash: "git status" }],
    ["chain-0", { bash: "git status; touch escaped-0" }],
    ["chain-1", { bash: "git status $(touch escaped-1)" }],
    ["chain-2", { bash: "git status > escaped-2" }],
    ["push", { bash: "git push origin main" }],
    ["hidden push", { bash: "sh -c 'git push'" }],
    ["read secret", { read: join(directory, "secret.txt") }],
    ["read link", { read: join(directory, "link") }],
    ["read asked", { read: join(directory, "asked.txt") }],
    ["read keys", { read: join(directory, ".env") }],
    ["read outside", { read: "/etc/passwd" }],
    ["write secret", { write: { path: join(directory, "secret.txt"), content: "x" } }],
    ["write page", { write: { path: join(directory, "page.md"), content: "x" } }],
    ["write hook", { write: { path: join(directory, ".git/hooks/pre-commit"), content: "x" } }],
    ["write settings", { write: { path: join(directory, "reprise.toml"), content: "x" } }],
    ["write outside", { write: { path: join(directory, "../outside.txt"), content: "x" } }]
  ])

const script = (directory: string): ScriptInput => ({
  rules: [
    ...[...tries(directory)].map(([words, step]) => ({
      match: { lastUser: { regex: `^${words}\\s` } },
      reply: [step, { text: "tried" }] as const
    })),
    { match: {}, reply: { text: "tried" } }
  ]
})

const rules: PermissionRules = {
  ...noRules,
  allow: { commands: ["git status", "git status *"], files: [], addresses: [] },
  ask: { commands: [], files: ["asked.txt"], addresses: [] },
  deny: { commands: ["git push *"], files: ["secret.txt"], addresses: [] }
}

const world = (given: PermissionRules) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { directory, root, stateDirectory } = yield* Places
      const { openaiUrl } = yield* ScriptedModel
      const program = yield* Effect.orDie(locateOpenCode())
      mkdirSync(join(root, "home"), { recursive: true })
      execFileSync("git", ["init", "--quiet", directory])
      for (const name of ["secret.txt", "asked.txt", ".env"]) writeFileSync(join(directory, name), "c4n4ry\n")
      symlinkSync("secret.txt", join(directory, "link"))
      const environment = acpEnvironment(root, openaiUrl)
      return layerAcp({ command: `${program} acp`, stateDirectory, environment, rules: rulesInMemory(given) })
    })
  ).pipe(
    Layer.provideMerge(
      Layer.unwrap(Effect.map(Places, ({ directory }) => ScriptedModel.layer({ script: script(directory) })))
    ),
    Layer.provideMerge(Layer.fresh(Places.layer))
  )

/** Tries it in a new session and rejects every question; how often a human was asked, how often a rule refused. */
const tried = Effect.fnUntraced(function* (text: string, permissions: PermissionMode) {
  const { directory } = yield* Places
  const runtime = yield* AgentRuntime
  const runtimeSessionId = yield* runtime.create({ directory, title: text, permissions })
  const seen = { asked: 0, denied: 0 }
  yield* runtime.events.pipe(
    Stream.filter((event) => event.sessionId === runtimeSessionId),
    Stream.runForEach((event) => {
      if (event.type === "refused") seen.denied += 1
      if (event.type !== "prompting") return Effect.void
      seen.asked += 1
      const reply = { kind: "permission", reply: "reject", message: "Go on without it." } as const
      return runtime.reply({ runtimeSessionId, promptId: event.promptId, reply })
    }),
    Effect.forkScoped({ startImmediately: true })
  )
  const outcome = yield* runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text })
  assert.strictEqual(outcome.text, "tried", text)
  assert.strictEqual(outcome.toolCalls, 1, text)
  return { ...seen, said: JSON.stringify(yield* runtime.history(runtimeSessionId)) }
}, Effect.scoped)

const silent = { asked: 0, denied: 0 }
const asked = { asked: 1, denied: 0 }
const denied = { asked: 0, denied: 1 }

const table = (cases: ReadonlyArray<readonly [PermissionMode, string, typeof silent]>) =>
  Effect.gen(function* () {
    for (const [mode, text, expected] of cases) {
      const { said, ...seen } = yield* tried(text, mode)
      assert.deepStrictEqual(seen, expected, `${text} in mode ${mode}`)
      if (expected !== silent) assert.notInclude(said, "c4n4ry", text)
    }
  })

describe("rules over the Agent Client Protocol", () => {
  layer(world(rules), { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect("decide before the mode does, and links and chains hide nothing", () =>
      Effect.gen(function* () {
        const { directory } = yield* Places
        yield* table([
          ["ask", "plain", silent],
          ["ask", "chain-0", asked],
          ["ask", "chain-1", asked],
          ["ask", "chain-2", asked],
          ["all", "push", denied],
          ["all", "hidden push", denied],
          ["all", "read secret", denied],
          ["all", "read link", denied],
          ["all", "read asked", asked],
          ["all", "write secret", denied]
        ])
        for (const n of [0, 1, 2]) assert.isFalse(existsSync(join(directory, `escaped-${n}`)))
      })
    )
  })
})

describe("modes over the Agent Client Protocol", () => {
  layer(world(noRules), { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect("allow what they say and ask about everything else", () =>
      Effect.gen(function* () {
        const { directory, root } = yield* Places
        yield* table([
          ["ask", "plain", asked],
          ["ask", "read asked", silent],
          ["ask", "read keys", asked],
          ["ask", "read outside", asked],
          ["ask", "write page", asked],
          ["workspace", "plain", asked],
          ["workspace", "write hook", asked],
          ["workspace", "write settings", asked],
          ["workspace", "write outside", asked]
        ])
        assert.isFalse(existsSync(join(directory, "page.md")))
        assert.isFalse(existsSync(join(root, "outside.txt")))
        yield* table([["workspace", "write page", silent]])
        assert.isTrue(existsSync(join(directory, "page.md")))
        yield* table([["all", "plain", silent]])
      })
    )
  })
})
