/** A list of more values than are read again each time shows what changed since it was asked for last. */
import { assert, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Broker } from "../src/index.ts"
import { onServer, ownServerWorld } from "./support/systems.ts"

const long = 520

onServer("a long list of values", () => {
  it.live(
    "has what others wrote and removed since, gives what did not change as the same objects, and survives kill -9",
    () =>
      Effect.gen(function* () {
        const { server, start } = yield* ownServerWorld()
        const [{ views }, { views: others }] = [yield* start(), yield* start()].map((one) =>
          Context.get(one, Broker)
        ) as [Context.Service.Shape<typeof Broker>, Context.Service.Shape<typeof Broker>]
        const expected = new Map<string, string>()
        const put = (key: string, value: string) => {
          expected.delete(key)
          expected.set(key, value)
          return others.put(key, value)
        }
        const remove = (key: string) => {
          expected.delete(key)
          return others.remove(key)
        }
        const check = Effect.fnUntraced(function* (says: string) {
          const list = yield* views.list("gate")
          assert.deepStrictEqual(
            list,
            [...expected].map(([key, value]) => ({ key, value })),
            says
          )
          return list
        })
        for (let n = 0; n < long; n++) yield* put(`gate.${n}`, `{"n":${n}}`)
        yield* others.put("session-manager.1", "{}")
        const first = yield* check("all")
        const second = yield* check("the same again")
        assert.isTrue(second.every((entry, n) => entry === first[n]))

        yield* put("gate.7", "changed")
        yield* put("gate.new", "new")
        const third = yield* check("a change and an addition")
        assert.strictEqual(third[0], first[0])

        yield* remove("gate.8")
        yield* check("a removal")
        yield* remove("gate.9")
        yield* put("gate.another", "another")
        yield* check("a removal and an addition, which leave the number as it was")
        yield* put("gate.large", `"${"x".repeat(600_000)}"`)
        yield* check("a value that is an object of its own")

        yield* server.kill
        yield* server.start
        yield* put("gate.7", "changed after the kill")
        yield* check("after the server was killed")

        for (let n = 10; n < 60; n++) yield* remove(`gate.${n}`)
        yield* check("short again")
      }).pipe(Effect.scoped)
  )
})
