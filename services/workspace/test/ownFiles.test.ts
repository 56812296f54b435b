import { assert, describe, it } from "@effect/vitest"
import { isAmong, listSome } from "../src/work/files/ownFiles.ts"

describe("paths", () => {
  it("are found in a list by their own path or that of a directory above them", () => {
    assert.isTrue(isAmong("a/b/c", ["x", "a/"]))
    assert.isFalse(isAmong("ab/c", ["a/", "ab"]))
  })
  it("are listed up to a limit, with the number of the others", () => {
    assert.strictEqual(listSome(["a", "b", "c"], 2), "a, b and 1 more")
    assert.strictEqual(listSome(["a", "b"], 2), "a, b")
  })
})
