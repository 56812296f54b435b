import { assert, describe, it } from "@effect/vitest"
import { judgeSilence } from "../src/opencode/server/calls.ts"

describe("a server that leaves a call unanswered", () => {
  it.each([
    { answeredAt: 0, aliveAt: 0, now: 59_999, why: undefined },
    { answeredAt: 0, aliveAt: 0, now: 60_000, why: "OpenCode has been away for 60 s" },
    { answeredAt: 0, aliveAt: 100_000, now: 159_999, why: undefined },
    { answeredAt: 0, aliveAt: 100_000, now: 160_000, why: "OpenCode has been away for 60 s" },
    { answeredAt: 0, aliveAt: 599_999, now: 599_999, why: undefined },
    { answeredAt: 0, aliveAt: 600_000, now: 600_000, why: "OpenCode runs, but has not answered for 600 s" },
    { answeredAt: 30_000, aliveAt: 600_000, now: 600_000, why: undefined }
  ])(
    "answered at $answeredAt and alive at $aliveAt: at $now it is given up because '$why'",
    ({ why, now, ...heard }) => {
      assert.strictEqual(judgeSilence(heard, now, 60_000), why)
    }
  )
})
