import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { OwnPrompts } from "../src/work/OwnPrompts.ts"

describe("our own prompts", () => {
  it.effect("are forgotten oldest first, and so are their sessions", () =>
    Effect.gen(function* () {
      const { isOurs, lastEndedAt, remember } = yield* OwnPrompts
      for (let n = 0; n <= 10_000; n++) yield* remember(`m${n}`, `s${n}`, n)
      assert.deepStrictEqual([isOurs("m0"), isOurs("m1"), isOurs("m10000")], [false, true, true])
      assert.deepStrictEqual([lastEndedAt("s0"), lastEndedAt("s1"), lastEndedAt("s10000")], [undefined, 1, 10_000])
    }).pipe(Effect.provide(OwnPrompts.layer))
  )
})
