import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { preview } from "../src/machine/preview.ts"
import { startRun, twoPhases, withGates } from "./support/samples.ts"
import { story } from "./support/story.ts"

describe("the preview of a run", () => {
  it("shows exactly the prompt that the first author gets, and the review that follows", () => {
    const seen = Result.getOrThrow(preview(startRun(withGates)))
    const s = story().executing(withGates)
    assert.strictEqual(seen?.phase, "1")
    assert.strictEqual(seen?.work, s.prompt)
    const asked = s.worked("abc1").gates(true).command("RequestReview")
    const { base, commit, diffStat, host } = asked
    assert.deepStrictEqual<unknown>({ ...seen?.review, base, commit, diffStat, host }, asked)
    assert.deepStrictEqual([seen?.review.base, seen?.review.commit], ["<HEAD>", "<the author's commit>"])
    assert.strictEqual(seen?.review.diffStat, "<what the author changes>")
  })

  it("begins with the phase that was asked for", () => {
    const seen = Result.getOrThrow(preview(startRun({ startPhase: "2" })))
    assert.strictEqual(seen?.phase, "2")
    assert.include(seen?.work, "P2.1: End")
  })

  it("is empty when no phase is left to do", () => {
    const done = twoPhases
      .replace("First things", "First things - COMPLETE")
      .replace("Second things", "Second things - COMPLETE")
    const seen = preview(startRun({}, done))
    assert.isUndefined(Result.getOrThrow(seen))
  })

  it("says why the run would fail", () => {
    assert.match(Result.getOrThrow(Result.flip(preview(startRun({}, "no plan at all")))), /\w/)
  })
})
