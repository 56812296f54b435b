import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  afterEnd,
  defaultRestarts,
  endingText,
  endsText,
  noEnds,
  type RestartHistory,
  startingAgain,
  wasKilled
} from "../src/restarts.ts"

/** The pauses before each restart of a program that lives so long, until it is given up or `most` ends are told. */
const play = (livesMs: number, answered: boolean, most = 100) => {
  let history: RestartHistory = noEnds
  let now = livesMs
  const pauses: Array<number> = []
  for (let n = 0; n < most; n++) {
    const next = afterEnd(history, { answered, now })
    if (next._tag === "give-up") return { pauses, gaveUp: { ends: next.ends, withinMs: next.withinMs }, now }
    pauses.push(next.pauseMs)
    history = next.history
    now += next.pauseMs + livesMs
  }
  return { pauses, gaveUp: undefined, now }
}

describe("a program that ends", () => {
  it("is started again at once, then after pauses that double, and none is longer than four seconds", () => {
    assert.deepStrictEqual(play(0, false, 9).pauses, [0, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000])
  })

  it("is started again at once when it has run for long", () => {
    assert.deepStrictEqual(
      play(61_000, true, 20).pauses,
      Array.from({ length: 20 }, () => 0)
    )
  })

  it.each([
    ["twenty times, a second after each start", 1_000, false],
    ["twenty times, four seconds after each start", 4_000, false],
    ["twenty times, four seconds after it answered", 4_000, true]
  ])("is started again within four seconds when it was killed %s", (_, livesMs, answered) => {
    const { gaveUp, pauses } = play(livesMs, answered, 20)
    assert.isUndefined(gaveUp)
    assert.isAtMost(Math.max(...pauses), 4_000)
  })

  it.each([
    ["in its start, again and again", 500, false],
    ["soon after it has answered, again and again", 500, true],
    ["because it does not answer", 180_000, false]
  ])("is given up after some minutes when it ends %s", (_, livesMs, answered) => {
    const { gaveUp, now } = play(livesMs, answered)
    assert.isDefined(gaveUp)
    assert.isAtMost(now, 2 * 180_000)
  })

  it.each([
    ["every ten seconds", 10_000],
    ["every minute", 60_000]
  ])("is not given up when it answers and is killed %s", (_, livesMs) => {
    assert.isUndefined(play(livesMs, true).gaveUp)
  })

  it("is given up with how often it ended, and within what time", () => {
    const limits = { ...defaultRestarts, mostEnds: 1 }
    const first = afterEnd(noEnds, { answered: true, now: 1_000 }, limits)
    if (first._tag !== "restart") return assert.fail("it is given up after one end")
    const second = afterEnd(first.history, { answered: false, now: 6_000 }, limits)
    assert.deepStrictEqual(second, { _tag: "give-up", ends: 2, withinMs: 5_000 })
    assert.strictEqual(endsText({ ends: 2, withinMs: 5_000 }), "ended 2 times within 5 s")
  })
})

describe("an exit code", () => {
  it.each([
    [0, false, "it ended with 0"],
    [3, false, "it ended with 3"],
    [137, true, "it was killed (SIGKILL): by somebody, or by the system, for lack of memory"],
    [143, true, "a signal ended it (SIGTERM)"],
    [139, false, "a signal ended it (SIGSEGV)"],
    [132, false, "a signal ended it (SIGILL)"],
    [255, false, "it ended with 255"]
  ])("of %i says whether somebody ended the program, and how it ended", (code, killed, text) => {
    assert.strictEqual(wasKilled(code), killed)
    assert.strictEqual(endingText(code), text)
  })
})

describe("a start", () => {
  const killedFor = (times: number) => {
    let starts = 0
    return Effect.suspend(() => (++starts > times ? Effect.succeed(starts) : Effect.fail("killed")))
  }
  const start = (program: Effect.Effect<number, string>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(
        Effect.result(
          startingAgain(
            program,
            (error) => error === "killed",
            (error, ends) => `${error}, ${ends}`
          )
        )
      )
      yield* TestClock.adjust("10 minutes")
      return yield* Fiber.join(fiber)
    })

  it.effect("succeeds after the program was killed twenty times", () =>
    Effect.map(start(killedFor(20)), (result) => assert.propertyVal(result, "success", 21))
  )

  it.effect("fails with how often the program ended when it is always killed", () =>
    Effect.map(start(killedFor(1_000)), (result) =>
      assert.propertyVal(result, "failure", "killed, ended 21 times within 64 s")
    )
  )

  it.effect("fails at once when the program failed by itself", () =>
    Effect.map(start(Effect.fail("broken")), (result) => assert.propertyVal(result, "failure", "broken"))
  )
})
