// @module-tag long
/** A runtime that misbehaves: each fault ends in the right state, in time, without sending a prompt twice. */
import { assert, layer } from "@effect/vitest"
import { turnIdOf } from "@reprise/protocol"
import { ScriptedModel, type ScriptInput } from "@reprise/scripted-model"
import { FaultyProxy } from "@reprise/testing"
import { Duration, Effect, Fiber, Layer } from "effect"
import { layerWith } from "../src/service.ts"
import { proxiedWorld } from "./support/realWorld.ts"
import { about, scene } from "./support/scene.ts"
import { storyOfWait } from "./support/stage.ts"

const done = { report: { result: "complete", commit: "abc" } }
const vendorSays = (message: string) => ({ error: { message, type: "invalid_request_error" } })

/** Each test has a phase of its own. */
const script: ScriptInput = {
  rules: [
    { name: "dropped", match: about(1, "work"), reply: { hold: "dropped", text: "Worked on." } },
    { name: "by hand", match: { role: "author", lastUser: "by hand" }, reply: { hold: "by hand", text: "By hand." } },
    { name: "accepted", match: about(3, "work"), reply: { text: "Worked." } },
    {
      name: "fails",
      match: about(4, "work"),
      reply: { text: "", fault: { times: 9, status: 400, body: vendorSays("no such parameter") } }
    },
    {
      name: "limited",
      match: about(7, "work"),
      reply: { text: "In the end.", fault: { status: 429, retryAfterSeconds: 20, body: vendorSays("slow down") } }
    },
    {
      name: "breaks off",
      match: about(8, "work"),
      reply: { text: "A long answer that is cut off.", fault: { disconnectAfterChars: 10 } }
    },
    { name: "is away", match: about(10, "work"), reply: [{ bash: "true" }, { hold: "away", text: "Back again." }] },
    {
      name: "floods",
      match: about(12, "work"),
      reply: { text: "A long answer. ".repeat(100_000), chunkChars: 1_000, chunkDelayMs: 5 }
    },
    { name: "reports", match: { kind: "report" }, reply: done },
    { name: "goes on", match: { kind: "continue" }, reply: { text: "Continued." } },
    { name: "works", match: { kind: "work" }, reply: { text: "Worked." } }
  ]
}

const settings = { idleGrace: Duration.millis(300), firstWait: Duration.millis(200), longestAnswerChars: 50_000 }
const worldWith = (runtimeGraceMs: number) =>
  layerWith(settings).pipe(
    Layer.provideMerge(proxiedWorld(script, { pollMs: 250, retryPatienceMs: 500, runtimeGraceMs }))
  )

const prompts = { method: "POST", path: /^\/session\/[^/]+\/message/ }
const stream = { method: "GET", path: /^\/global\/event/ }
const told = ["SessionCreated", "TurnStarted", "AgentWorking", "TurnCompleted"]

/** Faults end with the test that made them. */
const withFaults = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.ensuring(
    run,
    FaultyProxy.use(({ clear }) => clear)
  )

layer(worldWith(60_000), { excludeTestServices: true, timeout: "15 minutes" })("a runtime that misbehaves", (it) => {
  it.effect("is stopped when its answer is too long, the turn says so, and the session can be continued", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, start } = yield* scene(12)
      yield* send(start)
      const failed = yield* awaitEvent("TurnFailed")
      assert.deepInclude(failed, { kind: "turn-limit", sessionUsable: true })
      assert.match(
        failed.message,
        /^The agent was stopped: it had written [\d ]+ characters in one answer, and one may have 50 000 characters/
      )
    })
  )

  it.effect("drops the event stream during a turn: the turn completes, with the usual events", () =>
    Effect.gen(function* () {
      const { played, send, start, storyUntil } = yield* scene(1)
      const model = yield* ScriptedModel
      const { cutStreams } = yield* FaultyProxy
      yield* send(start)
      yield* model.awaitHeld("dropped")
      yield* cutStreams
      yield* model.release("dropped")
      assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), told)
      assert.deepStrictEqual(yield* played, ["dropped 0"])
    })
  )

  it.effect(
    "has no event stream while a human types: the activity and its end are reported once there is one again",
    () =>
      Effect.gen(function* () {
        const { awaitEvent, send, start, type } = yield* scene(2)
        const model = yield* ScriptedModel
        const proxy = yield* FaultyProxy
        yield* send(start)
        const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
        yield* awaitEvent("TurnCompleted")
        const { met } = yield* proxy.fault({ ...stream, fault: { do: "drop" } })
        yield* proxy.cutStreams
        yield* met
        const typed = yield* Effect.forkChild(type(runtimeSessionId, "Do it by hand."))
        yield* model.awaitHeld("by hand")
        yield* proxy.clear
        assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
        yield* model.release("by hand")
        yield* awaitEvent("AgentIdle")
        yield* Fiber.join(typed)
      }).pipe(withFaults)
  )

  it.effect("never says that it is idle: the turn completes, and the end of a human's work is noticed", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, start, storyUntil, type } = yield* scene(5)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...stream, fault: { do: "mute", types: ["session.idle", "session.status"] } })
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      assert.deepStrictEqual(yield* storyUntil("TurnCompleted"), told)
      yield* type(runtimeSessionId, "Do more.")
      assert.deepInclude(yield* awaitEvent("AgentWorking", 2), { cause: "human" })
      yield* awaitEvent("AgentIdle")
    }).pipe(withFaults)
  )

  it.effect("accepts a prompt with 204 and carries it out: the turn completes with one call per prompt", () =>
    Effect.gen(function* () {
      const { awaitEvent, played, send, start } = yield* scene(3)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...prompts, fault: { do: "accept" } })
      yield* send(start)
      assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "Worked." })
      assert.deepStrictEqual(yield* played, ["accepted 0"])
    }).pipe(withFaults)
  )

  it.effect("accepts a prompt with 204 and fails later: the turn fails with the reason", () =>
    Effect.gen(function* () {
      const { awaitEvent, played, send, start } = yield* scene(4)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...prompts, fault: { do: "accept" } })
      yield* send(start)
      const failed = yield* awaitEvent("TurnFailed")
      assert.deepInclude(failed, { kind: "runtime", sessionUsable: true })
      assert.include(failed.message, "no such parameter")
      assert.deepStrictEqual(yield* played, ["fails 0"])
    }).pipe(withFaults)
  )

  it.effect("does not know the session any more (404): the turn fails as session-missing, and nothing is retried", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, send, start } = yield* scene(6)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...prompts, fault: { do: "answer", status: 404 } })
      yield* send(start)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "session-missing", sessionUsable: false })
      assert.deepStrictEqual(yield* callsOf, [])
    }).pipe(withFaults)
  )

  it.effect("breaks on a prompt (500): the turn fails, nothing is retried, and the session can be continued", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, played, send, sessionId, start } = yield* scene(9)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...prompts, fault: { do: "answer", status: 500 } })
      yield* send(start)
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "runtime", sessionUsable: true })
      assert.deepStrictEqual(yield* callsOf, [])
      yield* proxy.clear
      yield* send({
        ...start,
        turnId: turnIdOf(start.runId, 2),
        session: { _tag: "Existing", sessionId },
        onMissing: "fresh"
      })
      yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual(yield* played, ["works 0"])
    }).pipe(withFaults)
  )

  it.effect("is rate-limited for 20 s (429): the turn waits that long and continues with the same prompt", () =>
    Effect.gen(function* () {
      const { awaitEvent, callsOf, eventsUntil, played, send, start, users } = yield* scene(7)
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      assert.deepInclude(yield* awaitEvent("AgentFailed"), { kind: "rate_limited" })
      assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "In the end." })
      assert.deepStrictEqual(storyOfWait(yield* eventsUntil("TurnCompleted")), [
        "SessionCreated",
        "TurnStarted",
        "AgentFailed",
        "TurnCompleted"
      ])
      assert.deepStrictEqual(yield* played, ["limited 0", "limited 0"])
      assert.strictEqual((yield* users(runtimeSessionId)).length, 1)
      const [refused, again] = (yield* callsOf).map(({ at }) => Date.parse(at))
      assert.isAtLeast((again ?? 0) - (refused ?? 0), 19_900)
    })
  )

  it.effect("loses its model's reply half-way: the turn completes with the whole reply, still one user message", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, start, users } = yield* scene(8)
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      assert.deepInclude(yield* awaitEvent("TurnCompleted"), { lastLines: "A long answer that is cut off." })
      assert.strictEqual((yield* users(runtimeSessionId)).length, 1)
    })
  )

  it.effect("breaks off its own response: the turn completes, and the model is called once per prompt", () =>
    Effect.gen(function* () {
      const { awaitEvent, played, send, start } = yield* scene(11)
      const proxy = yield* FaultyProxy
      yield* proxy.fault({ ...prompts, fault: { do: "cut" }, times: 1 })
      yield* send(start)
      yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual(yield* played, ["works 0"])
    }).pipe(withFaults)
  )
})

layer(worldWith(10_000), { excludeTestServices: true, timeout: "15 minutes" })("a runtime with a short grace", (it) => {
  it.effect("is away for longer than the grace: AgentGone is published, and a continue uses the same session", () =>
    Effect.gen(function* () {
      const { awaitEvent, goOn, played, send, start } = yield* scene(10)
      const model = yield* ScriptedModel
      const proxy = yield* FaultyProxy
      yield* send(start)
      const { runtimeSessionId } = yield* awaitEvent("SessionCreated")
      yield* model.awaitHeld("away")
      yield* proxy.fault({ path: /./, fault: { do: "drop" } })
      yield* proxy.cutAll
      yield* awaitEvent("AgentGone")
      assert.deepInclude(yield* awaitEvent("TurnFailed"), { kind: "gone", sessionUsable: true })
      yield* proxy.clear
      yield* model.release("away")
      yield* goOn(2)
      assert.strictEqual((yield* awaitEvent("SessionReused")).runtimeSessionId, runtimeSessionId)
      yield* awaitEvent("TurnCompleted")
      assert.deepStrictEqual((yield* played).slice(0, 2), ["is away 0", "is away 1"])
    }).pipe(withFaults)
  )
})
