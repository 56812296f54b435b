import { assert, describe, it } from "@effect/vitest"
import { ApiFailure } from "../src/data/api.ts"
import { makeQueryClient, untilRead } from "../src/data/queries.ts"

const failure = (status: number) => new ApiFailure(status, { code: "x", message: "m", hint: "h" })

describe("what an event has changed", () => {
  it.each([
    [0, true],
    [503, true],
    [404, false],
    [401, false]
  ])("is read again after an answer of status %d, however often that comes: %s", (status, again) => {
    for (const failures of [0, 5, 1_000]) assert.strictEqual(untilRead.retry(failures, failure(status)), again)
  })

  it("is asked for at most every ten seconds while nobody answers", () => {
    assert.deepStrictEqual([0, 1, 2, 10, 100].map(untilRead.retryDelay), [500, 1_000, 2_000, 10_000, 10_000])
  })

  it("is read at last by a client whose service was away for longer than anything else is tried", async () => {
    let asked = 0
    const read = async () => {
      asked += 1
      if (asked <= 8) throw failure(0)
      return "newest"
    }
    const client = makeQueryClient()
    const data = await client.fetchQuery({ queryKey: ["run"], queryFn: read, ...untilRead, retryDelay: 1 })
    assert.deepStrictEqual([data, asked], ["newest", 9])
  })
})
