import { assert, layer } from "@effect/vitest"
import { AgentRuntime } from "@reprise/agent"
import { turnIdOf } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { Duration, Effect, Fiber, Layer } from "effect"
import { layerWith } from "../src/service.ts"
import { killOpenCode, realWorld } from "./support/realWorld.ts"
import { about, scene } from "./support/scene.ts"

/** Each test has a phase of its own. */
const script: ScriptInput = {
  rules: [
    {
      name: "works",
      match: about(1, "work"),
      reply: [
        {
          bash: "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git rev-parse HEAD",
          capture: { commit: "([0-9a-f]{40})" }
        },
        { text: "Committed {{commit}}." }
      ]
    },
    {
      name: "reports",
      match: about(1, "report"),
      reply: { report: { result: "complete", commit: "{{commit}}" } }
    },
    { name: "continues", match: about(1, "continue"), reply: { text: "Continued." } },
    {
      name: "is killed",
      match: about(2, "work"),
      reply: [{ bash: "echo once >> ran.txt" }, { hold: "killed", text: "Survived." }]
    },
    { match: about(2, "report"), reply: { report: { result: "needs_human", reason: "why" } } },
    { match: about(3, "work"), reply: { text: "Worked." } },
    {
      name: "corrects",
      match: { ...about(3, "report"), lastUser: { regex: "^Your report could not be read" } },
      reply: { report: { result: "failed", reason: "no way" } }
    },
    { name: "reports badly", match: about(3, "report"), reply: { report: { result: "finished" } } },
    { match: about(4, "work"), reply: [{ bash: "echo asked" }, { text: "Allowed." }] },
    { match: about(4, "report"), reply: { report: { result: "complete", commit: "abc" } } },
    { match: about(5, "work"), reply: { hold: "aborted", text: "Too late." } },
    { match: about(6, "report"), reply: { report: { result: "complete", commit: "abc" } } },
    { match: { ...about(6, "work"), lastUser: "by hand" }, reply: { hold: "by hand", text: "By hand." } },
    { match: about(6, "work"), reply: { text: "Worked." } },
    {
      match: { role: "author", phase: 7, lastUser: "the JSON schema of the report" },
      reply: { report: { files: ["a.ts"], risk: "low" } }
    },
    { match: about(7, "work"), reply: { text: "Worked." } }
  ]
}

const world = layerWith({ idleGrace: Duration.millis(500) }).pipe(Layer.provideMerge(realWorld(script)))

layer(world, { excludeTestServices: true, timeout: "15 minutes" })("sessions on OpenCode and NATS", (it) => {
  it.effect("a new turn works, reports, and is continued in the same runtime session", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, runId, send, sessionId, start, storyUntil, users } = yield* scene(1)
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      const done = yield* awaitEvent("TurnCompleted")
      assert.strictEqual(done.status?.result, "complete")
      assert.match(done.status?.commit ?? "", /^[0-9a-f]{40}$/)
      assert.strictEqual(done.lastLines, `Committed ${done.status?.commit}.`)
      assert.isAbove(done.tokens.input + done.tokens.cacheRead, 0)
      assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), [
        "SessionCreated",
        "TurnStarted",
        "AgentWorking",
        "TurnCompleted"
      ])
      const before = yield* users(runtimeSessionId)

      yield* send({
        _tag: "ContinueSession",
        turnId: turnIdOf(runId, 2),
        sessionId,
        onMissing: "fail",
        guidance: "Go."
      })
      assert.strictEqual((yield* awaitEvent("SessionReused")).runtimeSessionId, runtimeSessionId)
      yield* awaitEvent("TurnCompleted", 2)
      const after = yield* users(runtimeSessionId)
      assert.strictEqual(after.length, before.length + 1)
      const calls = yield* callsOf
      assert.deepStrictEqual(
        calls.map(({ rule }) => rule),
        ["works", "works", "continues"]
      )
      assert.strictEqual(new Set(calls.map(({ session }) => session)).size, 1)
    })
  )

  it.effect("a kill -9 of OpenCode during a turn costs no second model call for the finished steps", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, send, start, users } = yield* scene(2)
      const model = yield* ScriptedModel
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* model.awaitHeld("killed")
      yield* killOpenCode
      yield* model.release("killed")
      const done = yield* awaitEvent("TurnCompleted")
      assert.deepInclude(done, { lastLines: "Survived." })
      assert.deepStrictEqual(done.status, { result: "needs_human", reason: "why" })
      assert.strictEqual((yield* users(runtimeSessionId)).length, 1)
      const steps = (yield* callsOf).filter(({ rule }) => rule === "is killed").map(({ step }) => step)
      assert.deepStrictEqual(
        steps.filter((step) => step === 0),
        [0]
      )
    })
  )

  it.effect("a report that cannot be read is corrected once, in the same session", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, send, start } = yield* scene(3)
      yield* send(start)
      assert.deepStrictEqual((yield* awaitEvent("TurnCompleted")).status, { result: "failed", reason: "no way" })
      const rules = (yield* callsOf).map(({ rule }) => rule)
      assert.deepStrictEqual(rules.slice(1), ["corrects"])
    })
  )

  it.effect("a permission request goes to a human, and the answer back to the agent", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, sessionId, start } = yield* scene(4, { permissions: "ask" })
      yield* send(start)
      const asked = yield* awaitEvent("AgentPrompting")
      assert.strictEqual(asked.kind, "permission")
      assert.include(asked.text, "echo asked")
      yield* send({ _tag: "ReplyToPrompt", sessionId, promptId: asked.promptId, reply: "once" })
      assert.strictEqual((yield* awaitEvent("TurnCompleted")).lastLines, "Allowed.")
    })
  )

  it.effect("an abort stops the agent in the middle of its turn", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, sessionId, start } = yield* scene(5)
      const model = yield* ScriptedModel
      const runtime = yield* AgentRuntime
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* model.awaitHeld("aborted")
      yield* send({ _tag: "AbortSession", sessionId, reason: "stop" })
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "aborted", sessionUsable: false })
      yield* awaitEvent("SessionAborted")
      const { state } = yield* Effect.repeat(runtime.inspect(runtimeSessionId), {
        while: (seen) => seen.state._tag === "busy"
      })
      assert.strictEqual(state._tag, "idle")
    })
  )

  it.effect("a human who types into an idle session is seen as working, and then as idle", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, start, storyUntil, type } = yield* scene(6)
      const model = yield* ScriptedModel
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* awaitEvent("TurnCompleted")
      const typed = yield* Effect.forkChild(type(runtimeSessionId, "Do it by hand."))
      yield* model.awaitHeld("by hand")
      yield* model.release("by hand")
      assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
      yield* awaitEvent("AgentIdle")
      yield* Fiber.join(typed)
      const told = (yield* storyUntil("AgentIdle")).slice(-4)
      assert.deepStrictEqual(told, ["TurnCompleted", "AgentWorking", "UsageCounted", "AgentIdle"])
    })
  )

  it.effect("a turn with a JSON schema gets a report that fits it", () =>
    Effect.gen(function* () {
      const properties = { files: { type: "array", items: { type: "string" } }, risk: { enum: ["low", "high"] } }
      const report = { type: "object", properties, required: ["files", "risk"] }
      const { awaitEvent, send, start } = yield* scene(7, { report })
      yield* send(start)
      const done = yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual([done.report, done.data], ["data", { files: ["a.ts"], risk: "low" }])
    })
  )
})
