/** The question that a failure of the model's vendor leads to: it says what helps, and that nothing happens by itself. */
import { assert, describe, it } from "@effect/vitest"
import { reviewerSessionIdOf, TurnId } from "@reprise/protocol"
import { runId } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const nothingByItself = " Reprise does nothing before you answer; to continue is to retry."
const retryAt = "2026-01-01T07:30:00.000Z"

const failed = (s: Story, kind: Parameters<Story["turnFails"]>[0], more: { readonly retryAt?: string } = {}) =>
  s.tell({ ...s.turnFailure(kind, true), ...more })

describe("a question about a model's vendor", () => {
  it.each([
    ["rate_limited", {}, `The author's turn failed (rate_limited): it was rate_limited.${nothingByItself}`],
    [
      "rate_limited",
      { retryAt },
      `The author's turn failed (rate_limited): it was rate_limited. It may be asked again at 2026-01-01 07:30 UTC.${nothingByItself}`
    ],
    [
      "out_of_credits",
      {},
      `The author's turn failed (out_of_credits): it was out_of_credits. Add credit first, or go on with another model.${nothingByItself}`
    ],
    ["no_internet", {}, `The author's turn failed (no_internet): it was no_internet.${nothingByItself}`],
    ["unauthorized", {}, "The author's turn failed (unauthorized): it was unauthorized"],
    ["runtime", { retryAt }, "The author's turn failed (runtime): it was runtime"]
  ] as const)("that failed as %s, %j, gives the reason", (kind, more, reason) => {
    assert.strictEqual(failed(story().executing(), kind, more).question.ask.reason, reason)
  })

  it("is not asked in auto mode, whose reasons promise nothing", () => {
    const s = failed(story().executing({ auto: true }), "rate_limited", { retryAt })
    assert.deepStrictEqual(s.phase.autoRetries, ["The author's turn failed (rate_limited): it was rate_limited"])
  })

  it("says the same of a review", () => {
    const s = story().executing().worked("abc1234")
    const { cycle, phase } = s.command("RequestReview")
    s.tell({
      _tag: "ReviewFailed",
      runId,
      phase,
      cycle,
      sessionId: reviewerSessionIdOf(runId, phase, 1),
      turnId: TurnId.make(`${runId}-t9`),
      kind: "rate_limited",
      reason: "slow down",
      retryAt
    })
    assert.strictEqual(
      s.question.ask.reason,
      `The review failed (rate_limited): slow down. It may be asked again at 2026-01-01 07:30 UTC.${nothingByItself}`
    )
  })
})
