import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { decodeScript } from "../src/index.ts"

const problemOf = (input: unknown) => Effect.map(Effect.flip(decodeScript(input)), (error) => error.message)

describe("readScript", () => {
  it.effect("refuses unknown keys and says where they are", () =>
    Effect.gen(function* () {
      const problem = yield* problemOf({ rules: [{ mach: {}, reply: { text: "x", wait: 1 } }] })
      assert.include(problem, `["rules"][0]["mach"]`)
      assert.include(problem, `["rules"][0]["reply"]["wait"]`)
    })
  )

  it.effect("refuses a regular expression that does not compile", () =>
    Effect.gen(function* () {
      const problem = yield* problemOf({ rules: [{ match: { lastUser: { regex: "(" } }, reply: { text: "x" } }] })
      assert.include(problem, "Unterminated group")
    })
  )

  it.effect("refuses a step without an answer", () =>
    Effect.gen(function* () {
      assert.include(yield* problemOf({ rules: [{ reply: {} }] }), "a step needs at least one of text")
      assert.include(yield* problemOf({ rules: [{ reply: [] }] }), "reply")
    })
  )

  it.effect("fills in the defaults", () =>
    Effect.gen(function* () {
      const script = yield* decodeScript({ rules: [{ reply: { text: "x", fault: { status: 500 } } }] })
      assert.strictEqual(script.model, "scripted")
      assert.deepStrictEqual(script.rules[0], { match: {}, reply: { text: "x", fault: { times: 1, status: 500 } } })
    })
  )
})
