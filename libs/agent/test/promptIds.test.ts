import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { promptIds } from "../src/promptIds.ts"

const now = 1_795_228_379_701

describe("promptIds", () => {
  it("are a message id and a part id that OpenCode accepts", () => {
    const { messageId, partId } = promptIds(now, "r1-t1", 0)
    assert.match(messageId, /^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
    assert.match(partId, /^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$/)
  })

  it("are the same for the same decision", () => {
    assert.deepStrictEqual(promptIds(now, "r1-t1", 0), promptIds(now, "r1-t1", 0))
  })

  it("carry the low 48 bits of the time in steps of a 4096th of a millisecond", () => {
    const time = BigInt(now) * 4096n + 3n
    assert.strictEqual(
      promptIds(now, "r1-t1", 3).messageId.slice(4, 16),
      (time % 2n ** 48n).toString(16).padStart(12, "0")
    )
  })

  it.prop("ascend in time and in the number of the prompt", [Schema.String], ([seed]) => {
    const ids = [
      promptIds(now, seed, 0),
      promptIds(now, seed, 1),
      promptIds(now, seed, 4095),
      promptIds(now + 1, seed, 0),
      promptIds(now + 60_000, seed, 0)
    ].map((it) => it.messageId)
    assert.deepStrictEqual(ids, [...ids].sort())
  })

  it("never collide for 200 000 turns decided in the same millisecond", () => {
    const seen = new Set<string>()
    for (let turn = 0; turn < 100_000; turn++) {
      for (const n of [0, 1]) seen.add(promptIds(now, `r${(turn % 97).toString(36)}-t${turn}`, n).messageId)
    }
    assert.strictEqual(seen.size, 200_000)
  })

  it("depend on every letter of the seed", () => {
    const suffixes = ["r1-t1", "r1-t2", "r2-t1", "1r-t1", "r1-t1 ", ""].map((seed) =>
      promptIds(now, seed, 0).messageId.slice(16)
    )
    assert.strictEqual(new Set(suffixes).size, suffixes.length)
  })
})
