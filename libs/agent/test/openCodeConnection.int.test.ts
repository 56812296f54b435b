// @module-tag long
/** A turn and its events over a connection that breaks. */
import { assert, describe, layer } from "@effect/vitest"
import { ScriptedModel } from "@reprise/scripted-model"
import { makeFaultyProxy } from "@reprise/testing"
import { Effect, Fiber, Layer } from "effect"
import { AgentRuntime, layerOpenCode, OpenCodeServer } from "../src/index.ts"
import { makeLink } from "./contract/Link.ts"
import { openCodeWorld } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { newIds, newSession, recordEvents, say, userMessages, World, waitUntil } from "./contract/World.ts"

/** Long enough for a slow machine: while the link works, the server is not taken for away. */
const shortGraceMs = 10_000

/** The same server, reached over what stands before it. */
const reachedAt = Effect.fnUntraced(function* (url: string, runtimeGraceMs = 60_000) {
  const { password } = yield* (yield* OpenCodeServer).connection
  const connected = OpenCodeServer.layerConnect({ url, password })
  return yield* Layer.build(layerOpenCode({ pollMs: 200, runtimeGraceMs }).pipe(Layer.provide(connected)))
})

const overLink = Effect.fnUntraced(function* (runtimeGraceMs?: number) {
  const { url } = yield* (yield* OpenCodeServer).connection
  const link = yield* makeLink(url)
  return { link, context: yield* reachedAt(link.url, runtimeGraceMs) }
})

const overProxy = Effect.fnUntraced(function* (runtimeGraceMs?: number) {
  const { url } = yield* (yield* OpenCodeServer).connection
  const proxy = yield* makeFaultyProxy(url)
  return { proxy, context: yield* reachedAt(proxy.url, runtimeGraceMs) }
})

/** Questions about the status of sessions stay unanswered. */
const noStatus = { path: /^\/session\/status/, fault: { do: "swallow" } } as const

describe("OpenCode over a broken connection", () => {
  layer(openCodeWorld, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect("finishes a turn whose connections were cut without a second model call, and reports its end", () =>
      Effect.gen(function* () {
        const model = yield* ScriptedModel
        const { reached, release } = yield* World
        const { context, link } = yield* overLink()
        yield* Effect.gen(function* () {
          const seen = yield* recordEvents
          const id = yield* newSession()
          const ids = newIds()
          const turn = yield* Effect.forkChild(say(id, "hold join", ids))
          yield* reached("join")
          yield* link.cut
          yield* release("join")
          assert.strictEqual((yield* Fiber.join(turn)).text, "released")
          assert.strictEqual(yield* userMessages(id), 1)
          const calls = (yield* model.calls).filter(({ session }) => session === id)
          assert.deepStrictEqual(
            calls.map(({ at, kind, lastUser }) => [kind, lastUser, at]),
            [["work", "hold join", calls[0]?.at]]
          )
          yield* say(id, "say afterwards", newIds())
          yield* waitUntil(Effect.sync(() => seen.find((event) => event.type === "idle" && event.sessionId === id)))
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("does not send the prompt of a turn that runs again, which may end in that moment", () =>
      Effect.gen(function* () {
        const { reached, release } = yield* World
        const { context, proxy } = yield* overProxy()
        const id = yield* newSession()
        const ids = newIds()
        const first = yield* Effect.forkChild(say(id, "hold crash", ids))
        yield* reached("crash")
        const sent = yield* proxy.fault({ method: "POST", path: /\/message/, fault: { do: "swallow" } })
        const listed = yield* proxy.fault({ method: "GET", path: /\/message/, fault: { do: "mute", types: [] } })
        const second = yield* Effect.forkChild(Effect.provideContext(say(id, "hold crash", ids), context))
        yield* listed.met
        yield* release("crash")
        const outcome = yield* Effect.raceFirst(Fiber.join(second), Effect.as(sent.met, "sent again" as const))
        assert.notStrictEqual(outcome, "sent again")
        assert.strictEqual((yield* Fiber.join(first)).text, "released")
        assert.strictEqual(yield* userMessages(id), 1)
      })
    )

    it.effect("finishes a turn whose answer never comes by polling", () =>
      Effect.gen(function* () {
        const { reached, release } = yield* World
        const { context, link } = yield* overLink()
        yield* Effect.gen(function* () {
          const id = yield* newSession()
          const turn = yield* Effect.forkChild(say(id, "hold busy"))
          yield* reached("busy")
          yield* link.swallow
          yield* release("busy")
          assert.strictEqual((yield* Fiber.join(turn)).text, "released")
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("fails a turn after the grace, and continues it over another connection", () =>
      Effect.gen(function* () {
        const { reached, release } = yield* World
        const { context, link } = yield* overLink(shortGraceMs)
        const id = yield* newSession()
        const ids = newIds()
        const error = yield* Effect.gen(function* () {
          const turn = yield* Effect.forkChild(Effect.flip(say(id, "hold events", ids)))
          yield* reached("events")
          yield* link.unplug
          return yield* Fiber.join(turn)
        }).pipe(Effect.provideContext(context))
        assert.strictEqual(error.kind, "gone")
        assert.isTrue(error.sessionUsable)
        yield* release("events")
        assert.strictEqual((yield* say(id, "hold events", ids)).text, "released")
        assert.strictEqual(yield* userMessages(id), 1)
      })
    )

    it.effect("waits longer than the grace for a server that answers nothing but that it is healthy", () =>
      Effect.gen(function* () {
        const { reached, release } = yield* World
        const { context, proxy } = yield* overProxy(1000)
        yield* Effect.gen(function* () {
          const turn = yield* Effect.forkChild(say(yield* newSession(), "hold first"))
          yield* reached("first")
          const third = yield* proxy.fault(noStatus)
          yield* proxy.fault({ ...noStatus, times: 2 })
          // The turn and the feed ask. The turn waits for five seconds, and asks again only if it has outlived them.
          yield* Effect.raceFirst(third.met, Fiber.join(turn))
          yield* proxy.clear
          yield* release("first")
          assert.strictEqual((yield* Fiber.join(turn)).text, "released")
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("fails a turn whose server answers for ten graces nothing but that it is healthy", () =>
      Effect.gen(function* () {
        const { reached, release } = yield* World
        const { context, proxy } = yield* overProxy(300)
        yield* Effect.gen(function* () {
          const turn = yield* Effect.forkChild(Effect.flip(say(yield* newSession(), "hold both")))
          yield* reached("both")
          yield* proxy.fault(noStatus)
          const error = yield* Fiber.join(turn)
          assert.strictEqual(error.kind, "gone")
          assert.isTrue(error.sessionUsable)
          assert.include(error.message, "OpenCode runs, but has not answered for 3 s")
          yield* proxy.clear
          yield* release("both")
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("reports sessions as gone when their server is away for longer than the grace", () =>
      Effect.gen(function* () {
        const { context, link } = yield* overLink(shortGraceMs)
        const id = yield* newSession()
        yield* say(id, "say hello")
        yield* Effect.gen(function* () {
          const seen = yield* recordEvents
          // Who has asked for a session hears of it.
          yield* (yield* AgentRuntime).inspect(id)
          yield* link.unplug
          yield* waitUntil(Effect.sync(() => seen.find((event) => event.type === "gone" && event.sessionId === id)))
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("names a model that it does not know also when the reason is lost on the way", () =>
      Effect.gen(function* () {
        const { context, proxy } = yield* overProxy()
        yield* proxy.fault({ path: /event/, fault: { do: "mute", types: ["session.error"] } })
        yield* Effect.gen(function* () {
          const { directory } = yield* Places
          const prompt = { runtimeSessionId: yield* newSession(), directory, text: "say hello", promptId: newIds() }
          const error = yield* Effect.flip((yield* AgentRuntime).prompt({ ...prompt, model: "nobody/nothing" }))
          assert.include(error.message, "Model not found: nobody/nothing")
        }).pipe(Effect.provideContext(context))
      })
    )

    it.effect("reports a human's own prompt as a separate cause", () =>
      Effect.gen(function* () {
        const runtime = yield* AgentRuntime
        const { context } = yield* overLink()
        const seen = yield* recordEvents
        const id = yield* newSession()
        const ours = newIds()
        yield* say(id, "say ours", ours)
        const theirs = newIds()
        yield* Effect.provideContext(say(id, "say theirs", theirs), context)
        const working = yield* waitUntil(
          Effect.sync(() => seen.find((event) => event.type === "working" && event.causePromptId !== ours.messageId))
        )
        assert.strictEqual(working.causePromptId, theirs.messageId)
        assert.strictEqual((yield* runtime.inspect(id)).lastMessage?.causePromptId, theirs.messageId)
      })
    )
  })
})
