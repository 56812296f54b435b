/** What every broker promises of its buckets and transcripts; a part of `brokerContract`. */
import { assert, type Vitest } from "@effect/vitest"
import type { Key } from "@reprise/protocol"
import { Effect } from "effect"
import { Broker } from "../../src/index.ts"

/** `freshKey`: one that no other test of this broker has. */
export const storesContract = (it: Vitest.MethodsNonLive<Broker>, freshKey: () => Key): void => {
  it.effect("keeps the last value of a key, and replaces it only where it was seen", () =>
    Effect.gen(function* () {
      const { views } = yield* Broker
      const key = freshKey()
      assert.strictEqual(yield* views.get(`a.${key}`), undefined)
      const first = yield* views.put(`a.${key}`, "1", 0)
      const second = yield* views.put(`a.${key}`, "2", first)
      assert.strictEqual((yield* Effect.flip(views.put(`a.${key}`, "3", first)))._tag, "Conflict")
      assert.strictEqual((yield* Effect.flip(views.put(`a.${key}`, "3", 0)))._tag, "Conflict")
      assert.deepStrictEqual(yield* views.get(`a.${key}`), { value: "2", revision: second })
      yield* views.put(`b.${key}`, "4")
      yield* views.put(`a.${key}`, "5")
      assert.deepStrictEqual(yield* views.list("a"), [{ key: `a.${key}`, value: "5" }])
      assert.deepStrictEqual(yield* views.list("none"), [])
    })
  )

  it.effect("forgets a key for good, whatever its size, and no other", () =>
    Effect.gen(function* () {
      const { views } = yield* Broker
      const key = freshKey()
      yield* views.put(`c.${key}`, "1")
      yield* views.put(`c.${key}-other`, JSON.stringify("x".repeat(600_000)))
      yield* views.remove(`c.${key}-other`)
      yield* views.remove(`c.${key}-missing`)
      assert.deepStrictEqual(yield* views.list("c"), [{ key: `c.${key}`, value: "1" }])
      yield* views.remove(`c.${key}`)
      assert.strictEqual(yield* views.get(`c.${key}`), undefined)
      assert.isAbove(yield* views.put(`c.${key}`, "again", 0), 0)
    })
  )

  it.effect("keeps transcripts of any size by name until they are removed", () =>
    Effect.gen(function* () {
      const { transcripts } = yield* Broker
      const name = `session/${freshKey()}/ses_1`
      assert.strictEqual(yield* transcripts.get(name), undefined)
      const large = `${"ä".repeat(400_000)}\n`
      yield* transcripts.put(name, "first")
      yield* transcripts.put(name, large)
      assert.strictEqual(yield* transcripts.get(name), large)
      assert.deepStrictEqual(yield* transcripts.list(name.slice(0, -1)), [name])
      yield* transcripts.remove(name)
      yield* transcripts.remove(name)
      assert.deepStrictEqual(yield* transcripts.list(name.slice(0, -1)), [])
      assert.strictEqual(yield* transcripts.get(name), undefined)
    })
  )
}
