import { assert, describe, it } from "@effect/vitest"
import { loadUntilReached } from "../src/parts/loadedLater.ts"

/** Fails so many times, then is there. */
const after = (failures: number) => {
  let tries = 0
  return async () => {
    tries += 1
    if (tries <= failures) throw new Error("Failed to fetch")
    return tries
  }
}

const answers = (...reached: ReadonlyArray<boolean>) => {
  const left = [...reached]
  return async () => left.shift() ?? true
}

describe("a part of the page that is loaded later", () => {
  it("is there at once where it can be loaded", async () => {
    assert.strictEqual(await loadUntilReached(after(0), answers(), 1), 1)
  })

  it("is asked for again while nobody answers, and once more when somebody does", async () => {
    assert.strictEqual(await loadUntilReached(after(4), answers(false, false, false, true), 1), 5)
  })

  it("fails when it cannot be loaded although Reprise answers", async () => {
    const failed = await loadUntilReached(after(9), answers(false, true), 1).catch((error: Error) => error.message)
    assert.strictEqual(failed, "Failed to fetch")
  })
})
