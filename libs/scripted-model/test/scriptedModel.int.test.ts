import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type ScriptInput, startScriptedModel } from "../src/index.ts"
import { createSession, OpenCode, prompt, useModel } from "./support/openCode.ts"

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
    cwd,
    encoding: "utf8"
  }).trim()

/** A repository with one commit, removed with the scope. */
const repository = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "reprise-scripted-"))
    git(directory, "init", "-q", "-b", "main")
    git(directory, "config", "user.name", "Scripted")
    git(directory, "config", "user.email", "scripted@example.org")
    git(directory, "commit", "-q", "--allow-empty", "-m", "Begin")
    return directory
  }),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const script: ScriptInput = {
  rules: [
    {
      name: "author works",
      match: { role: "author", kind: "work", phase: 2 },
      times: 1,
      reply: [
        { write: { path: "greeting.txt", content: "hello\n" } },
        {
          bash: "git add greeting.txt && git commit -q -m 'Add greeting' && git rev-parse HEAD",
          capture: { commit: "([0-9a-f]{40})" }
        },
        { text: "Committed {{commit}}." }
      ]
    },
    {
      name: "author reports",
      match: { role: "author", kind: "report" },
      reply: { report: { result: "complete", commit: "{{commit}}", completedTasks: ["2.1"] } }
    },
    {
      name: "author is stopped and goes on",
      match: { kind: "continue" },
      reply: { text: "Continued.", hold: "continue", fault: { status: 503, retryAfterSeconds: 0 } }
    }
  ]
}

const workPrompt = "You are the author of phase 2 of the plan plan.md.\n\nDo task 2.1."
const reportPrompt = "Report as one fenced JSON block with result, commit, completedTasks."
const continuePrompt = "Continue the current session and complete all remaining tasks."

layer(OpenCode.layer, { excludeTestServices: true, timeout: "15 minutes" })("scripted model with OpenCode", (it) => {
  it.effect.each([
    ["openai", "@ai-sdk/openai-compatible"],
    ["anthropic", "@ai-sdk/anthropic"]
  ] as const)(
    "makes real turns commit with real tools, and records every call, over the %s protocol",
    ([protocol, npm]) =>
      Effect.gen(function* () {
        const directory = yield* repository
        const model = yield* startScriptedModel({ script })
        useModel(directory, { npm, baseURL: model.openaiUrl })
        const session = yield* createSession(directory, "phase 2")

        const worked = yield* prompt(directory, session, workPrompt)
        const head = git(directory, "rev-parse", "HEAD")
        assert.strictEqual(worked.text, `Committed ${head}.`)
        assert.strictEqual(git(directory, "show", "HEAD:greeting.txt"), "hello")

        const reported = yield* prompt(directory, session, reportPrompt)
        assert.include(reported.text, `"commit": "${head}"`)
        // Tokens travel: what the previous call of the session held is reported as cached.
        assert.isAbove(reported.tokens.cache.read, reported.tokens.input)

        const held = yield* Effect.forkChild(prompt(directory, session, continuePrompt))
        yield* model.awaitHeld("continue")
        yield* model.release("continue")
        assert.strictEqual((yield* Fiber.join(held)).text, "Continued.")

        const calls = yield* model.calls
        assert.deepStrictEqual(
          calls.map(({ rule, step, kind, turn, round, outcome }) => ({ rule, step, kind, turn, round, outcome })),
          [
            { rule: "author works", step: 0, kind: "work", turn: 1, round: 0, outcome: "answered" },
            { rule: "author works", step: 1, kind: "work", turn: 1, round: 1, outcome: "answered" },
            { rule: "author works", step: 2, kind: "work", turn: 1, round: 2, outcome: "answered" },
            { rule: "author reports", step: 0, kind: "report", turn: 2, round: 0, outcome: "answered" },
            { rule: "author is stopped and goes on", step: 0, kind: "continue", turn: 3, round: 0, outcome: "fault" },
            { rule: "author is stopped and goes on", step: 0, kind: "continue", turn: 3, round: 0, outcome: "answered" }
          ]
        )
        assert.isTrue(
          calls.every(
            (call) =>
              call.protocol === protocol && call.session === session && call.role === "author" && call.phase === "2"
          )
        )
      })
  )

  it.effect("answers a call without a matching rule with an error that OpenCode does not retry", () =>
    Effect.gen(function* () {
      const directory = yield* repository
      const model = yield* startScriptedModel({ script: { rules: [] } })
      useModel(directory, { npm: "@ai-sdk/openai-compatible", baseURL: model.openaiUrl })
      const session = yield* createSession(directory)
      const answer = yield* prompt(directory, session, workPrompt)
      assert.include(JSON.stringify(answer.error), "no rule matches this call: role author, kind work, phase 2")
      assert.strictEqual((yield* model.unmatched).length, 1)
      // The session has no title, so OpenCode asks for one: that has a default answer.
      const title = yield* model.awaitCall((call) => call.kind === "title")
      assert.strictEqual(title.outcome, "answered")
    })
  )
})
