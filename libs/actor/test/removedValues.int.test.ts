// @module-tag long
/** What was removed from a bucket stays removed, also when the server is killed right afterwards. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber } from "effect"
import { Broker } from "../src/index.ts"
import { onServer, ownServerWorld } from "./support/systems.ts"

const states = ["open", "waiting", "answered", "closed"]

onServer("values that were removed", () => {
  it.live("do not come back after kill -9 of the server, and their keys can be used again", () =>
    Effect.gen(function* () {
      const world = yield* ownServerWorld()
      const { views } = Context.get(yield* world.start(), Broker)
      const kept: Array<string> = []
      for (let round = 0; round < 3; round++) {
        const keys = ["a", "b", "c"].map((name) => `gate.${round}${name}`)
        for (const key of keys) for (const state of states) yield* views.put(key, state)
        const [first = "", ...others] = keys
        kept.push(first)
        for (const key of others) yield* views.remove(key)
        yield* world.server.kill
        yield* world.server.start
        assert.deepStrictEqual((yield* views.list("gate")).map(({ key }) => key).sort(), kept)
        for (const key of others) assert.isUndefined(yield* views.get(key))
      }
      const revision = yield* views.put("gate.0b", "new", 0)
      assert.deepStrictEqual(yield* views.get("gate.0b"), { value: "new", revision })
    }).pipe(Effect.scoped)
  )

  it.live("are read, removed and purged all the same when the server is killed meanwhile", () =>
    Effect.gen(function* () {
      const { server, start } = yield* ownServerWorld()
      const { last, purge, views } = Context.get(yield* start(), Broker)
      yield* views.put("gate.a", "open")
      const requests = [
        views.get("gate.a"),
        last("journal", "t.journal.run.a"),
        purge("journal", "t.journal.run.a"),
        views.remove("gate.a")
      ]
      for (const request of requests) {
        yield* server.pause
        const asked = yield* Effect.forkChild(request, { startImmediately: true })
        yield* server.kill
        yield* server.start
        yield* Fiber.join(asked)
      }
      assert.isUndefined(yield* views.get("gate.a"))
    }).pipe(Effect.scoped)
  )
})
