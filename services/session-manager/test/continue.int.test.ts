/** A continue on a session that has changed: refused or replaced as requested, and never retried. */
import { assert, layer } from "@effect/vitest"
import { AgentRuntime } from "@reprise/agent"
import { turnIdOf } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Duration, Effect, Fiber, Layer } from "effect"
import { layerWith } from "../src/service.ts"
import { deleteSession, realWorld, TestDirectories } from "./support/realWorld.ts"
import { about, scene } from "./support/scene.ts"
import { nextTurn } from "./support/story.ts"

const script: ScriptInput = {
  rules: [
    { name: "by hand", match: { lastUser: "by hand" }, reply: { hold: "by hand", text: "By hand." } },
    { name: "aborted", match: { ...about(5, "work"), phase: [5, 8] }, reply: { hold: "aborted", text: "Too late." } },
    {
      name: "interrupted",
      match: about(9, "work"),
      reply: [{ bash: "echo begun" }, { hold: "interrupted", text: "Too late." }]
    },
    { name: "reports", match: { kind: "report" }, reply: { report: { result: "needs_human", reason: "why" } } },
    { name: "goes on", match: { kind: "continue" }, reply: { text: "Continued." } },
    { name: "works", match: { kind: "work" }, reply: { text: "Worked." } }
  ]
}

const world = layerWith({ idleGrace: Duration.millis(500) }).pipe(Layer.provideMerge(realWorld(script)))

/** A session after its first turn. */
const worked = Effect.fnUntraced(function* (phase: number) {
  const of = yield* scene(phase)
  yield* of.send(of.start)
  const { runtimeSessionId } = yield* of.awaitEvent("SessionCreated")
  yield* of.awaitEvent("TurnCompleted")
  return { ...of, runtimeSessionId, calls: yield* of.played }
})

layer(world, { excludeTestServices: true, timeout: "15 minutes" })("continue", (it) => {
  it.effect(
    "uses the session as it is: the model sees the earlier conversation and one more prompt, and nothing is created",
    () =>
      Effect.gen(function* () {
        const { awaitEvent, callsOf, calls, goOn, played, runtimeSessionId, storyUntil } = yield* worked(1)
        yield* goOn(2, "Blue,\nof course")
        assert.strictEqual((yield* awaitEvent("SessionReused")).runtimeSessionId, runtimeSessionId)
        yield* awaitEvent("TurnCompleted", 2)
        assert.deepStrictEqual(yield* played, [...calls, "goes on 0"])
        const [first, continued] = yield* callsOf
        const said = continued?.messages.map(({ text }) => text) ?? []
        assert.include(said[0], first?.lastUser)
        assert.match(said[1] ?? "", /^Worked\./)
        assert.strictEqual(continued?.turn, 2)
        assert.include(said.at(-1), "Blue,\nof course")
        assert.strictEqual((yield* storyUntil("SessionReused")).filter((type) => type === "SessionCreated").length, 1)
      })
  )

  it.effect("is refused after the session was deleted, and not retried", () =>
    Effect.gen(function* () {
      const { awaitEvent, calls, goOn, played, runtimeSessionId, view } = yield* worked(2)
      yield* deleteSession(runtimeSessionId)
      yield* goOn(2)
      const failed = yield* awaitEvent("TurnFailed")
      assert.deepInclude(failed, { kind: "session-missing", sessionUsable: false })
      assert.include(failed.message, "does not know it any more")
      assert.strictEqual((yield* view).status, "failed")
      yield* goOn(3)
      assert.deepInclude(yield* awaitEvent("TurnFailed", 2), { kind: "session-missing", sessionUsable: false })
      assert.deepStrictEqual(yield* played, calls)
    })
  )

  it.effect("starts over with the whole prompt where that was requested, and publishes the replacement", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, runId, runtimeSessionId, send, sessionId, start } = yield* worked(3)
      yield* deleteSession(runtimeSessionId)
      const turnId = turnIdOf(runId, 2)
      yield* send({
        ...start,
        turnId,
        session: { _tag: "Existing", sessionId },
        onMissing: "fresh",
        prompt: "A word.",
        freshPrompt: start.prompt
      })
      const replaced = yield* awaitEvent("SessionReplaced")
      assert.strictEqual(replaced.old, runtimeSessionId)
      yield* awaitEvent("TurnCompleted", 2)
      const last = (yield* callsOf).filter(({ session }) => session === replaced.new)
      assert.deepStrictEqual(
        last.map(({ kind, turn }) => `${kind} ${turn}`),
        ["work 1"]
      )
      assert.isTrue(last[0]?.lastUser.startsWith(`${start.prompt}\n\n`))
    })
  )

  it.effect("is refused in another directory, and the session stays usable in its own", () =>
    Effect.gen(function* () {
      const { awaitEvent, calls, goOn, played, runId, runtimeSessionId, send, sessionId, start } = yield* worked(4)
      const { root } = yield* TestDirectories
      const elsewhere = nextTurn(2, { ...start, turnId: turnIdOf(runId, 2), directory: root, onMissing: "fail" })
      yield* send({ ...elsewhere, session: { _tag: "Existing", sessionId } })
      const failed = yield* awaitEvent("TurnFailed")
      assert.deepInclude(failed, { kind: "session-missing", sessionUsable: false })
      assert.include(failed.message, start.directory)
      assert.deepStrictEqual(yield* played, calls)
      yield* goOn(3)
      assert.strictEqual((yield* awaitEvent("SessionReused")).runtimeSessionId, runtimeSessionId)
      yield* awaitEvent("TurnCompleted", 2)
    })
  )

  it.effect("is refused after an abort", () =>
    Effect.gen(function* () {
      const { awaitEvent, goOn, played, send, sessionId, start } = yield* scene(5)
      const model = yield* ScriptedModel
      yield* send(start)
      yield* model.awaitHeld("aborted")
      yield* send({ _tag: "AbortSession", sessionId, reason: "stop" })
      yield* awaitEvent("SessionAborted")
      yield* goOn(2)
      const failed = yield* awaitEvent("TurnFailed", 2)
      assert.deepInclude(failed, { kind: "session-missing", sessionUsable: false })
      assert.include(failed.message, "it is aborted")
      assert.deepStrictEqual(yield* played, ["aborted 0"])
    })
  )

  it.effect("goes on with the whole conversation of a turn that was interrupted, and counts what that used", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, goOn, played, send, runId, sessionId, start } = yield* scene(9)
      const model = yield* ScriptedModel
      yield* send(start)
      yield* model.awaitHeld("interrupted")
      yield* send({ _tag: "InterruptTurn", sessionId, turnId: turnIdOf(runId, 1), reason: "the run is paused" })
      const { kind, promptGiven, sessionUsable, tokens } = yield* awaitEvent("TurnFailed")
      assert.deepStrictEqual([kind, sessionUsable, promptGiven], ["aborted", true, true])
      const used = yield* callsOf
      assert.strictEqual(tokens.input + tokens.cacheRead, used[0]?.usage.inputTokens)
      yield* goOn(2)
      yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual(yield* played, ["interrupted 0", "interrupted 1", "goes on 0"])
      const said = (yield* callsOf).at(-1)?.messages.map(({ text }) => text) ?? []
      assert.isTrue(
        said.some((text) => text.includes("begun")),
        "the tool call of the interrupted turn is there"
      )
    })
  )

  it.effect("is not offered after a human stopped the turn in the runtime's own interface", () =>
    Effect.gen(function* () {
      const { awaitEvent, played, send, start } = yield* scene(8)
      const model = yield* ScriptedModel
      const runtime = yield* AgentRuntime
      yield* model.rearm("aborted")
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* model.awaitHeld("aborted")
      yield* runtime.abort(runtimeSessionId)
      assert.strictEqual((yield* awaitEvent("TurnFailed")).kind, "aborted")
      assert.deepStrictEqual(yield* played, ["aborted 0"])
    })
  )

  it.effect("waits while the agent works on a human's prompt, and is sent once after it", () =>
    Effect.gen(function* () {
      const { awaitEvent, calls, goOn, played, runtimeSessionId, type } = yield* worked(6)
      const model = yield* ScriptedModel
      const typed = yield* Effect.forkChild(type(runtimeSessionId, "Do it by hand."))
      yield* model.awaitHeld("by hand")
      yield* goOn(2)
      yield* awaitEvent("SessionReused")
      yield* model.release("by hand")
      yield* Fiber.join(typed)
      yield* awaitEvent("TurnCompleted", 2)
      assert.deepStrictEqual(yield* played, [...calls, "by hand 0", "goes on 0"])
    })
  )

  it.effect("is refused while a turn is open, without disturbing it", () =>
    Effect.gen(function* () {
      const { awaitEvent, calls, goOn, played, send, runId, sessionId, start } = yield* worked(7)
      const model = yield* ScriptedModel
      yield* model.rearm("by hand")
      yield* send({
        ...start,
        turnId: turnIdOf(runId, 2),
        session: { _tag: "Existing", sessionId },
        prompt: "You do it by hand."
      })
      yield* model.awaitHeld("by hand")
      yield* goOn(3)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { turnId: turnIdOf(runId, 3), sessionUsable: true })
      yield* model.release("by hand")
      assert.strictEqual((yield* awaitEvent("TurnCompleted", 2)).turnId, turnIdOf(runId, 2))
      assert.deepStrictEqual(yield* played, [...calls, "by hand 0"])
    })
  )
})
