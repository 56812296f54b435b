/** The simulation itself: the same seed is the same story, nothing else than the seed decides, and a failure shrinks. */
import { assert, describe, it } from "@effect/vitest"
import { bugs } from "./bugs.ts"
import { randomOf } from "./machine/Random.ts"
import { failureOf } from "./shrink.ts"
import { simulate } from "./simulate.ts"
import { storyText } from "./storyText.ts"
import { faultsOf } from "./world/faults.ts"
import { worldOf } from "./world/World.ts"

describe("the simulation", () => {
  it("tells the same story for the same seed, message by message", () => {
    for (const seed of [11, 17, 36]) {
      const [one, other] = [simulate(worldOf(seed)), simulate(worldOf(seed))]
      assert.strictEqual(one.hash, other.hash)
      assert.strictEqual(storyText(one), storyText(other))
    }
  })

  it("asks neither the clock nor chance of the machine that it runs on", () => {
    const { now } = Date
    const { random } = Math
    const { randomUUID } = globalThis.crypto
    const never = (): never => {
      throw new Error("A service asked the machine.")
    }
    simulate(worldOf(11))
    Object.assign(Date, { now: never })
    Object.assign(globalThis.crypto, { randomUUID: never })
    try {
      assert.strictEqual(simulate(worldOf(11)).unrest, undefined)
    } finally {
      Object.assign(Date, { now })
      Object.assign(Math, { random })
      Object.assign(globalThis.crypto, { randomUUID })
    }
  })

  it("starts no program, opens nothing and sets no timer on the machine that it runs on", () => {
    const before = process.getActiveResourcesInfo()
    simulate(worldOf(11, []))
    assert.deepStrictEqual(process.getActiveResourcesInfo(), before)
  })

  it("finds a watch that is not taken up after a restart, with the restart and a human who works by hand", () => {
    const faults = [
      { _tag: "Human", step: 1, does: "attach-answer" },
      { _tag: "KillAsked", service: "session-manager", question: 0, downMs: 50 }
    ] as const
    const bug = bugs["the watch over sessions is not taken up after a restart"]
    const checks = failureOf(worldOf(1, faults), bug)?.violations.map(({ check }) => check) ?? []
    assert.include(checks, "humansAreNoticed")
    assert.isUndefined(failureOf(worldOf(1, faults)))
  })

  it("draws the faults apart from the rest of the world, so that a story with fewer of them stays the same world", () => {
    const [whole, calm] = [worldOf(42), worldOf(42, [])]
    assert.deepStrictEqual({ ...whole, faults: [] }, calm)
    assert.isAbove(Array.from({ length: 50 }, (_, seed) => faultsOf(randomOf(seed)).length).filter(Boolean).length, 20)
  })

  it("finds nothing wrong with stories in which nothing goes wrong", () => {
    for (let seed = 0; seed < 12; seed++) assert.strictEqual(failureOf(worldOf(seed, [])), undefined)
  })

  it("finds nothing wrong with stories full of faults", () => {
    for (let seed = 100; seed < 120; seed++)
      assert.deepStrictEqual(failureOf(worldOf(seed))?.violations ?? [], [], `seed ${seed}`)
  })
})
