/** An agent that asks for a login over the protocol gets the one that the person has given, or nobody's. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { loginMethod } from "../src/acp/process/login.ts"
import { AgentRuntime, layerAcp, promptIds } from "../src/index.ts"

const fixture = join(import.meta.dirname, "fixtures", "acpAgent.ts")

const makeRoot = Effect.acquireRelease(
  Effect.sync(() => {
    const root = mkdtempSync(join(tmpdir(), "reprise-login-"))
    mkdirSync(join(root, "work"))
    return root
  }),
  (root) => Effect.sync(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
)

const key = { GEMINI_API_KEY: "given" }

const runtimeIn = (root: string, credentials: Readonly<Record<string, string>>) =>
  Effect.map(
    Layer.build(
      layerAcp({
        command: `${process.execPath} ${fixture} wants-login ${join(root, "work")}`,
        stateDirectory: join(root, "state"),
        environment: { PATH: process.env["PATH"], HOME: root, XDG_CACHE_HOME: join(root, "cache"), ...credentials }
      })
    ),
    (context) => {
      const runtime = Context.get(context, AgentRuntime)
      const directory = join(root, "work")
      const say = (text: string, n: number) =>
        runtime.prompt({ runtimeSessionId: "only", directory, promptId: promptIds(1_000, text, n), text })
      return { create: runtime.create({ directory, title: "login", permissions: "ask" }), say }
    }
  )

const loginsIn = (root: string): ReadonlyArray<string> => {
  const path = join(root, "work", "told.txt.logins")
  return existsSync(path) ? readFileSync(path, "utf8").trim().split(" ") : []
}

describe("an agent that wants a login over the protocol", () => {
  it.live("gets it once for each process, by the method whose key stands in the environment", () =>
    Effect.gen(function* () {
      const root = yield* makeRoot
      const first = yield* Scope.make()
      const { create, say } = yield* Scope.provide(runtimeIn(root, key), first)
      yield* create
      assert.strictEqual((yield* say("one", 0)).text, "heard 1")
      assert.deepStrictEqual(loginsIn(root), ["gemini-api-key"])
      yield* Scope.close(first, Exit.void)
      const again = yield* runtimeIn(root, key)
      assert.strictEqual((yield* again.say("two", 1)).text, "heard 2")
      assert.deepStrictEqual(loginsIn(root), ["gemini-api-key", "gemini-api-key"])
    }).pipe(Effect.scoped)
  )

  it.live("fails as unauthorized where nobody has given a key, and is not logged in", () =>
    Effect.gen(function* () {
      const root = yield* makeRoot
      const { create } = yield* runtimeIn(root, {})
      const error = yield* Effect.flip(create)
      assert.strictEqual(error.kind, "unauthorized")
      assert.deepStrictEqual(loginsIn(root), [])
    }).pipe(Effect.scoped)
  )

  it.live("has lost no session where the key is missing later", () =>
    Effect.gen(function* () {
      const root = yield* makeRoot
      const first = yield* Scope.make()
      const { create, say } = yield* Scope.provide(runtimeIn(root, key), first)
      yield* create
      yield* say("one", 0)
      yield* Scope.close(first, Exit.void)
      const without = yield* runtimeIn(root, {})
      const error = yield* Effect.flip(without.say("two", 1))
      assert.strictEqual(error.kind, "unauthorized")
      assert.isTrue(error.sessionUsable)
    }).pipe(Effect.scoped)
  )
})

describe("the method of a login", () => {
  const authMethods = [
    { id: "oauth-personal", name: "Google" },
    { id: "gemini-api-key", name: "Key" }
  ]

  const cases: ReadonlyArray<
    readonly [string, Parameters<typeof loginMethod>[0], Readonly<Record<string, string>>, string | undefined]
  > = [
    ["is the one whose key is given", { authMethods }, key, "gemini-api-key"],
    ["is none without a key", { authMethods }, {}, undefined],
    ["is none for an empty key", { authMethods }, { GEMINI_API_KEY: "" }, undefined],
    ["is none that the agent does not offer", { authMethods: [] }, key, undefined],
    ["is none of an agent that offers nothing", {}, key, undefined]
  ]
  it.each(cases)("%s", (_, offered, environment, expected) => {
    assert.strictEqual(loginMethod(offered, environment), expected)
  })
})
