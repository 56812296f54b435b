import { assert, describe, it } from "@effect/vitest"
import { makePlaces } from "../src/work/console/Places.ts"

describe("places that clients take", () => {
  it("are taken by whoever came first, of each name", () => {
    const come = makePlaces(2)
    const [a, b, c, d] = [come("ada"), come("ada"), come("ada"), come("bob")]
    assert.deepStrictEqual(
      [a, b, c, d].map((one) => one.isTaken()),
      [true, true, false, true]
    )
    a.leave()
    assert.isTrue(c.isTaken())
  })

  it("are given back once, also by whoever waits no longer", () => {
    const come = makePlaces(1)
    const [a, b, c, d] = [come("ada"), come("ada"), come("ada"), come("ada")]
    b.leave()
    b.leave()
    a.leave()
    a.leave()
    assert.deepStrictEqual([c.isTaken(), d.isTaken()], [true, false])
    c.leave()
    assert.isTrue(d.isTaken())
  })
})
