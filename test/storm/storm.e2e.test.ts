// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rage } from "./storm.ts"

describe("a storm of kills", () => {
  it.live.each([
    { seed: 3, agent: "opencode", kills: 25 },
    { seed: 4, agent: "opencode", kills: 25 }
  ] as const)("(seed $seed) loses nothing, doubles nothing and leaves nothing over", (options) =>
    Effect.gen(function* () {
      const { kills, violations } = yield* rage(options)
      assert.deepStrictEqual(violations, [])
      const struck = Object.values(kills).reduce((sum, count) => sum + count, 0)
      assert.strictEqual(struck, options.kills)
    })
  )
})
