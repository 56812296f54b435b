// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { flood } from "./flood.ts"
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

describe("a flood of bad messages", () => {
  it.live("changes nothing in a run, and keeps no good answer from being taken", () =>
    Effect.gen(function* () {
      const floods: Array<Effect.Success<ReturnType<typeof flood>>> = []
      const { violations } = yield* rage({
        seed: 5,
        agent: "opencode",
        kills: 0,
        meanwhile: (world) => Effect.map(flood(world, { seed: 5, messages: 1_000 }), (done) => void floods.push(done))
      })
      assert.deepStrictEqual(violations, [])
      const [done = assert.fail("the flood did not end")] = floods
      assert.strictEqual(done.answersMs.length, 10)
      assert.isFalse(done.brokerRestarted)
    })
  )
})
