// @module-tag long
/** Rules on both runtimes: whatever a runtime decides by itself, a rule decides before it. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import type { PermissionMode } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { lacksAgent } from "@reprise/testing"
import { Effect, Layer, Stream } from "effect"
import { AgentRuntime, layerClaude, layerOpenCode, OpenCodeServer, type PermissionRules } from "../src/index.ts"
import { noRules } from "../src/rules/PermissionRules.ts"
import { type RuleBook, rulesInMemory } from "../src/rules/RuleBook.ts"
import { claudeEnvironment } from "./contract/claudeWorld.ts"
import { openCodeEnvironment } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds } from "./contract/World.ts"

/** What hides another command behind an allowed one. Each would leave a file. */
const chains = [
  "git status; touch escaped-0",
  "git status && touch escaped-1",
  "git status || touch escaped-2; touch escaped-2",
  "git status | tee escaped-3",
  "git status\ntouch escaped-4",
  "git status $(touch escaped-5)",
  "git status `touch escaped-6`",
  "env X=1 touch escaped-7",
  "X=1 touch escaped-8",
  "git status > escaped-9",
  "sh -c 'touch escaped-10'",
  "(git status; touch escaped-11)"
]

const held = ["git push origin main", "true; git push", "sh -c 'git push'", "env X=1 git push", "echo $(git push)"]

const script = (directory: string): ScriptInput => ({
  rules: [
    {
      match: { lastUser: "chain" },
      reply: [
        { bash: "git status" },
        { bash: "git status --short && git status" },
        ...chains.map((bash) => ({ bash })),
        { text: "tried" }
      ]
    },
    {
      match: { lastUser: "held" },
      reply: [
        { bash: "git push" },
        ...held.map((bash) => ({ bash })),
        { read: join(directory, "secret.txt") },
        { read: join(directory, "link") },
        { write: { path: join(directory, "secret.txt"), content: "x" } },
        { read: join(directory, "asked.txt") },
        { text: "tried" }
      ]
    },
    {
      match: { lastUser: "allowed" },
      reply: [
        { write: { path: join(directory, "docs/page.md"), content: "x" } },
        { write: { path: join(directory, "reprise.toml"), content: "x" } },
        { text: "tried" }
      ]
    },
    { match: { kind: ["title", "summary"] }, reply: { text: "housekeeping" } }
  ]
})

const rules: PermissionRules = {
  ...noRules,
  allow: { commands: ["git status", "git status *"], files: ["**"], addresses: [] },
  ask: { commands: [], files: ["asked.txt"], addresses: [] },
  deny: { commands: ["git push *"], files: ["secret.txt"], addresses: [] }
}

const model = Layer.unwrap(Effect.map(Places, ({ directory }) => ScriptedModel.layer({ script: script(directory) })))

const openCode = (book: RuleBook) =>
  layerOpenCode({ pollMs: 250, rules: book }).pipe(
    Layer.provide(
      Layer.unwrap(
        Effect.gen(function* () {
          const { root, stateDirectory } = yield* Places
          const { openaiUrl } = yield* ScriptedModel
          return OpenCodeServer.layer({ stateDirectory, environment: openCodeEnvironment(root, openaiUrl) })
        })
      )
    )
  )

const claude = (book: RuleBook) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { root, stateDirectory } = yield* Places
      const { url } = yield* ScriptedModel
      const environment = { ...claudeEnvironment(root, url), IS_SANDBOX: "1" }
      return layerClaude({ stateDirectory, environment, pollMs: 100, rules: book })
    })
  )

/** `created`: happens after the session was made. Says it in a new session, rejects every question with words, so that the turn goes on, and returns the questions and what rules refused. */
const tried = Effect.fnUntraced(function* (
  text: string,
  permissions: PermissionMode,
  created: Effect.Effect<void> = Effect.void
) {
  const { directory } = yield* Places
  const runtime = yield* AgentRuntime
  const runtimeSessionId = yield* runtime.create({ directory, title: text, permissions })
  yield* created
  const asked: Array<string> = []
  const rejecting = Effect.forever(
    Effect.gen(function* () {
      for (const { promptId, sessionId, text: question } of yield* runtime.pendingPrompts(directory)) {
        if (sessionId !== runtimeSessionId) continue
        const reply = { kind: "permission", reply: "reject", message: "Go on without it." } as const
        if ((yield* runtime.reply({ runtimeSessionId, promptId, reply })) === "delivered") {
          asked.push(question.split(": ").slice(1).join(": "))
        }
      }
      yield* Effect.sleep("50 millis")
    })
  )
  const denied: Array<string> = []
  yield* runtime.events.pipe(
    Stream.runForEach((event) =>
      Effect.sync(() => {
        if (event.type === "refused" && event.sessionId === runtimeSessionId) denied.push(event.text)
      })
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  const prompt = runtime.prompt({ runtimeSessionId, directory, promptId: newIds(), text, maxTurns: 100 })
  assert.strictEqual((yield* Effect.raceFirst(prompt, rejecting)).text, "tried")
  return { asked: [...new Set(asked)], denied, said: JSON.stringify(yield* runtime.history(runtimeSessionId)) }
}, Effect.scoped)

const suite = <E>(name: string, runtime: (book: RuleBook) => Layer.Layer<AgentRuntime, E, Places | ScriptedModel>) =>
  describe.skipIf(lacksAgent(name))(`rules on ${name}`, () => {
    let current = rules
    const all = runtime({ ...rulesInMemory(), rules: Effect.sync(() => current) }).pipe(
      Layer.provideMerge(model),
      Layer.provideMerge(Layer.fresh(Places.layer))
    )
    layer(all, { excludeTestServices: true, timeout: "5 minutes" })((it) => {
      it.effect("an allowed command allows no chain, substitution or redirection with another one", () =>
        Effect.gen(function* () {
          const { directory } = yield* Places
          const { asked } = yield* tried("chain", "ask")
          assert.deepStrictEqual(asked, chains)
          for (const n of chains.keys()) assert.isFalse(existsSync(join(directory, `escaped-${n}`)), chains[n])
        })
      )

      it.effect.each(["ask", "all"] as const)(
        "what is denied does not happen in mode %s, without a question, is told each time, and the agent is told the rule",
        (mode) =>
          Effect.gen(function* () {
            const { directory } = yield* Places
            writeFileSync(join(directory, "secret.txt"), "c4n4ry\n")
            writeFileSync(join(directory, "asked.txt"), "c4n4ry\n")
            if (!existsSync(join(directory, "link"))) symlinkSync("secret.txt", join(directory, "link"))
            const { asked, denied, said } = yield* tried("held", mode)
            assert.deepStrictEqual(
              asked.map((one) => one.split("/").at(-1)),
              ["asked.txt"]
            )
            assert.notInclude(said, "c4n4ry")
            assert.include(said, "permissions.deny.commands: git push *")
            assert.include(said, "permissions.deny.files: secret.txt")
            const wishes = ["git push", ...held, "secret.txt", "link"]
            // Claude itself refuses to write a file that it has not read: then no rule does.
            assert.deepStrictEqual(
              denied.slice(0, wishes.length).map((text, n) => text.endsWith(wishes[n] ?? "?")),
              wishes.map(() => true),
              denied.join("\n")
            )
          })
      )

      it.effect("what is denied does not happen in a session that is older than the rule", () =>
        Effect.gen(function* () {
          const { directory } = yield* Places
          writeFileSync(join(directory, "secret.txt"), "c4n4ry\n")
          current = noRules
          const { said } = yield* tried(
            "held",
            "all",
            Effect.sync(() => {
              current = rules
            })
          )
          assert.notInclude(said, "c4n4ry")
          assert.include(said, "permissions.deny.commands: git push *")
        })
      )

      it.effect("an allowed file is changed without a question, but none that grants permissions", () =>
        Effect.gen(function* () {
          const { directory } = yield* Places
          mkdirSync(join(directory, "docs"), { recursive: true })
          const { asked } = yield* tried("allowed", "ask")
          assert.deepStrictEqual(
            asked.map((one) => one.split("/").at(-1)),
            ["reprise.toml"]
          )
          assert.isTrue(existsSync(join(directory, "docs/page.md")))
          assert.isFalse(existsSync(join(directory, "reprise.toml")))
        })
      )
    })
  })

suite("OpenCode", openCode)
suite("Claude", claude)
