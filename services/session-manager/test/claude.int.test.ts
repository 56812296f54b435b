// @module-tag long
/** Turns on Claude under faults: each completes once, in its own session, without sending a prompt twice. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { AgentRuntime, type Message } from "@reprise/agent"
import type { ScriptInput } from "@reprise/scripted-model"
import { lacksClaude } from "@reprise/testing"
import { Effect, Schedule } from "effect"
import { claudeWorld, killClaude, sessionManager } from "./support/claudeWorld.ts"
import { TestDirectories } from "./support/realWorld.ts"
import { about, scene } from "./support/scene.ts"
import { storyOfWait } from "./support/stage.ts"

const done = { report: { result: "complete", commit: "abc" } }
const slowDown = { type: "error", error: { type: "rate_limit_error", message: "slow down" } }
const longTool = (phase: number) => ({ bash: `echo once >> ran-${phase}.txt; sleep 600` })

/** Each test has a phase of its own. */
const script: ScriptInput = {
  rules: [
    { name: "goes on", match: { lastUser: "Your turn was interrupted" }, reply: { text: "Went on." } },
    {
      name: "limited",
      match: about(1, "work"),
      reply: { text: "In the end.", fault: { status: 429, retryAfterSeconds: 20, body: slowDown } }
    },
    { name: "works", match: about(2, "work"), reply: longTool(2) },
    { name: "works", match: about(3, "work"), reply: longTool(3) },
    {
      name: "floods",
      match: about(9, "work"),
      reply: { text: "A long answer. ".repeat(100_000), chunkChars: 1_000, chunkDelayMs: 5 }
    },
    { name: "reports", match: { kind: "report" }, reply: done }
  ]
}

const told = ["SessionCreated", "TurnStarted", "AgentWorking", "TurnCompleted"]

const beginning = ({ content }: Message) => {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
  if (text.startsWith("You are the author")) return "work"
  return text.startsWith("Your turn was interrupted") ? "continuation" : text.includes("JSON") ? "report" : text
}

/** The agent's tool runs, and Claude has stored the call: killed earlier, it would make the call again. */
const inMidTool = Effect.fnUntraced(function* (phase: number, runtimeSessionId: string) {
  const { directory } = yield* TestDirectories
  const runtime = yield* AgentRuntime
  yield* runtime.inspect(runtimeSessionId).pipe(
    Effect.filterOrFail(
      (seen) => seen.lastMessage?.role === "assistant" && existsSync(join(directory, `ran-${phase}.txt`))
    ),
    Effect.retry(Schedule.spaced("50 millis"))
  )
})

describe.skipIf(lacksClaude)("sessions on Claude", () => {
  layer(claudeWorld(script), { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect("a turn waits the 20 s that the vendor asks for and continues in the same session", () =>
      Effect.gen(function* () {
        const { awaitEvent, callsOf, eventsUntil, played, send, start } = yield* scene(1, { runtime: "claude" })
        yield* send(start)
        assert.deepInclude(yield* awaitEvent("AgentFailed"), { kind: "rate_limited" })
        assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "In the end.", attempts: 2 })
        assert.deepStrictEqual(yield* played, ["limited 0", "limited 0"])
        assert.deepStrictEqual(storyOfWait(yield* eventsUntil("TurnCompleted")), [
          "SessionCreated",
          "TurnStarted",
          "AgentFailed",
          "TurnCompleted"
        ])
        const calls = yield* callsOf
        assert.strictEqual(new Set(calls.map(({ session }) => session)).size, 1)
        const [refused, again] = calls.map(({ at }) => Date.parse(at))
        assert.isAtLeast((again ?? 0) - (refused ?? 0), 19_900)
      }).pipe(Effect.provide(sessionManager))
    )

    it.effect("a turn whose answer is too long is stopped and says so, and its session can be continued", () =>
      Effect.gen(function* () {
        const { awaitEvent, send, start } = yield* scene(9, { runtime: "claude" })
        yield* send(start)
        const failed = yield* awaitEvent("TurnFailed")
        assert.deepInclude(failed, { kind: "turn-limit", sessionUsable: true })
        assert.match(failed.message, /^The agent was stopped: it had written /)
      }).pipe(Effect.provide(sessionManager))
    )

    it.effect(
      "a turn completes once after a kill -9 of Claude during a tool call, without its prompt being sent again",
      () =>
        Effect.gen(function* () {
          const { awaitEvent, played, send, start, storyUntil, users } = yield* scene(2, { runtime: "claude" })
          yield* send(start)
          const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
          yield* inMidTool(2, runtimeSessionId)
          yield* killClaude
          assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "Went on.", attempts: 2 })
          assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), told)
          assert.deepStrictEqual(yield* played, ["works 0", "goes on 0", "reports 0"])
          assert.deepStrictEqual((yield* users(runtimeSessionId)).map(beginning), ["work", "continuation", "report"])
        }).pipe(Effect.provide(sessionManager))
    )

    it.effect(
      "a turn is completed by the next session-manager when its own ends, without its prompt being sent again",
      () =>
        Effect.gen(function* () {
          const { awaitEvent, played, send, start, storyUntil, users } = yield* scene(3, { runtime: "claude" })
          const runtimeSessionId = yield* Effect.gen(function* () {
            yield* send(start)
            const created = yield* awaitEvent("SessionCreated")
            yield* inMidTool(3, created.runtimeSessionId)
            return created.runtimeSessionId
          }).pipe(Effect.provide(sessionManager))
          const turn = yield* Effect.provide(awaitEvent("TurnCompleted"), sessionManager)
          assert.deepInclude(turn, { lastLines: "Went on.", attempts: 2 })
          assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), told)
          assert.deepStrictEqual(yield* played, ["works 0", "goes on 0", "reports 0"])
          assert.deepStrictEqual((yield* users(runtimeSessionId)).map(beginning), ["work", "continuation", "report"])
        })
    )
  })
})
