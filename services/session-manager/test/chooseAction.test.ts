import { assert, describe, it } from "@effect/vitest"
import { afterProgress, chooseAction, countAttempt, nothingTried } from "../src/session/actions.ts"
import type { TriedActions } from "../src/session/state.ts"
import type { ActionName, Configured } from "../src/settings.ts"
import { at } from "./support/story.ts"

/** The actions that are taken until a human is asked or the session fails. */
const course = (configured: ReadonlyArray<Configured>, possible: (action: ActionName) => boolean = () => true) => {
  const taken: Array<string> = []
  let tried: TriedActions = nothingTried
  for (let n = 0; n < 10; n++) {
    const chosen = chooseAction(configured, tried, at(n * 10), possible)
    taken.push(chosen.delayMs === 0 ? chosen.action : `${chosen.action} in ${chosen.delayMs / 1000} s`)
    if (chosen.action === "escalate" || chosen.action === "fail") return taken
    tried = countAttempt(tried, chosen, at(n * 10))
  }
  return taken
}

describe("the actions of a trigger", () => {
  it.each<readonly [string, ReadonlyArray<Configured>, ReadonlyArray<string>]>([
    ["none", [], ["escalate"]],
    ["one that asks a human", ["escalate"], ["escalate"]],
    ["one that gives up", ["fail"], ["fail"]],
    ["a nudge, tried once, then a human", ["nudge", "escalate"], ["nudge", "escalate"]],
    ["a nudge alone: exhausted, a human is asked", ["nudge"], ["nudge", "escalate"]],
    ["several, in order", ["nudge", "report", "fail"], ["nudge", "report", "fail"]],
    ["one with attempts", [{ action: "continue", attempts: 3 }, "fail"], ["continue", "continue", "continue", "fail"]],
    [
      "one with a cooldown: the first at once, the others at least that far apart",
      [{ action: "continue", attempts: 3, cooldownMs: 30_000 }],
      ["continue", "continue in 20 s", "continue in 20 s", "escalate"]
    ],
    ["what comes behind escalate is never reached", ["escalate", "nudge"], ["escalate"]]
  ])("%s", (_, configured, taken) => {
    assert.deepStrictEqual(course(configured), taken)
  })

  it("never run out of waiting, approving and rejecting", () => {
    assert.deepStrictEqual(new Set(course(["approve", "escalate"])), new Set(["approve"]))
    assert.deepStrictEqual(new Set(course(["wait"])), new Set(["wait"]))
    assert.deepStrictEqual(course([{ action: "reject", attempts: 1 }]), ["reject", "escalate"])
  })

  it("skip those that are not possible now", () => {
    assert.deepStrictEqual(
      course(["continue", "fail"], (action) => action !== "continue"),
      ["fail"]
    )
  })
})

describe("the tried actions", () => {
  const tried = countAttempt(
    countAttempt(nothingTried, { index: 0, attempt: 1 }, at(0)),
    { index: 1, attempt: 2 },
    at(10)
  )

  it("are counted by the index of the action", () => {
    assert.deepStrictEqual(tried, { counts: [1, 2], lastAt: at(10) })
  })

  it("are forgotten when the agent makes progress more than a minute later", () => {
    assert.deepStrictEqual(afterProgress(tried, true, at(71)), nothingTried)
  })

  it("stay when the progress may be a reaction to our nudge, or there was none", () => {
    assert.deepStrictEqual(afterProgress(tried, true, at(70)), tried)
    assert.deepStrictEqual(afterProgress(tried, false, at(7_000)), tried)
  })
})
