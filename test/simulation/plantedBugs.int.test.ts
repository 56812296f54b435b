/** The checks find what they are for: every planted bug, within ten thousand stories, with a handful of faults. */
import { assert, describe, it } from "@effect/vitest"
import { bugs } from "./bugs.ts"
import { findFailure, shrink } from "./shrink.ts"

const stories = 10_000
const mostFaults = 5

/** Each search takes from seconds to minutes of processor time. */
const isNight = process.env["REPRISE_NIGHTLY"] !== undefined

describe.skipIf(!isNight)("a planted bug (with REPRISE_NIGHTLY=1)", () => {
  for (const [name, bug] of Object.entries(bugs)) {
    it(`is found and shrinks to a handful of faults: ${name}`, () => {
      const found = findFailure(0, stories, bug)
      assert.isDefined(found)
      if (found !== undefined) assert.isAtMost(shrink(found, bug).world.faults.length, mostFaults)
    })
  }
})
