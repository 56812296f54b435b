import { assert, describe, it } from "@effect/vitest"
import { isSettled, nothingProven, type Proven, readProven, remembered, writeProven } from "../src/provenObjects.ts"

const [a, b] = ["a".repeat(40), "b".repeat(64)]
const proven = (of: Partial<Proven>): Proven => ({ ...nothingProven, ...of })

describe("what is remembered of proven objects", () => {
  it("is read as it was written", () => {
    const one = { sources: new Set(["/a b.idx 1:2"]), packed: new Set([a]), loose: new Map([[b, ["1:2", "3:4"]]]) }
    assert.deepStrictEqual(readProven(writeProven(one)), one)
  })

  it.each([undefined, "", "[]", '{"sources":[]', '{"sources":[],"packed":"xyz","loose":"../x 1"}'])(
    "is nothing where the text is not a record: %j",
    (text) => assert.deepStrictEqual(readProven(text), nothingProven)
  )

  it.each([
    ["grows by what was found in the same packs", ["p"], ["p"], [a, b]],
    ["is what was found alone where a pack is new", ["p"], ["p", "q"], [b]],
    ["is what was found alone where a pack is gone", ["p", "q"], ["p"], [b]]
  ] as const)("%s", (_, before, now, packed) => {
    const kept = remembered(
      proven({ sources: new Set(before), packed: new Set([a]) }),
      proven({ sources: new Set(now), packed: new Set([b]) })
    )
    assert.deepStrictEqual(kept, proven({ sources: new Set(now), packed: new Set(packed) }))
  })

  it.each([
    ["changed long before", 1_000, [1], true],
    ["changed so shortly before that a later change may bear the same time", 8_500, [1], false],
    ["bears a time to come", 20_000, [1], false],
    ["is on another disk, whose clock nobody knows", 1_000, [1, 2], false]
  ] as const)("counts for a file that %s: %d ms, on %j: %s", (_, changedMs, disks, isKept) => {
    const file = { changedMs, devices: disks.map(BigInt) }
    assert.strictEqual(isSettled({ device: 1n, nowMs: 10_000, tellsChanges: true }, file), isKept)
    assert.isFalse(isSettled({ device: 1n, nowMs: 10_000, tellsChanges: false }, file), "of times that tell nothing")
  })
})
