import { assert, describe, it } from "@effect/vitest"
import { leftOut, longTests } from "./longTests.ts"

const files = ["a", "b", "c", "d", "e", "f", "g"]

describe("the long tests of a turn", () => {
  it("are all, over all turns, and each once", () => {
    const run = ["1/3", "2/3", "3/3"].flatMap((turn) => {
      const out = new Set(leftOut(files, turn))
      return files.filter((file) => !out.has(file))
    })
    assert.sameMembers(run, files)
    assert.strictEqual(run.length, files.length)
  })

  it("are every third file", () => assert.deepStrictEqual(leftOut(files, "2/3"), ["a", "c", "d", "f", "g"]))

  it.each([undefined, ""])("are all of them without a turn: %s", (turn) =>
    assert.deepStrictEqual(leftOut(files, turn), [])
  )

  it.each(["0/3", "4/3", "a", "1"])("have no turn %s", (turn) =>
    assert.throws(() => leftOut(files, turn), "say '1/3' for the first of three turns")
  )

  it("are found by their tag", () => {
    const found = longTests(`${import.meta.dirname}/../..`)
    assert.include(found, "libs/agent/test/sandbox.int.test.ts")
    assert.notInclude(found, "test/e2e/run.e2e.test.ts")
  })
})
