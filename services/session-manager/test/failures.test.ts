import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { defaultActions } from "../src/settings.ts"
import { answer, at, failed, firstTurn, given, givenWith, goodReport, newTurn, sessionId, t } from "./support/story.ts"

const working = firstTurn.slice(0, 2)

describe("a prompt that failed", () => {
  it.each(["rate_limited", "out_of_credits", "no_internet"] as const)("as %s waits, which is not a failure", (kind) => {
    const outcome = given(working).when(failed(1, 1, kind))
    assert.deepStrictEqual(outcome.types, ["AgentFailed", "TurnWaiting"])
    assert.deepStrictEqual(outcome.timers, [
      { _tag: "SetTimer", dueAt: at(90), command: { _tag: "RetryPrompt", turnId: t(1), number: 1, wait: 1 } }
    ])
  })

  it("waits as long as the runtime says", () => {
    const outcome = given(working).when(failed(1, 1, "rate_limited", { retryAfterMs: 7_000 }))
    assert.strictEqual(outcome.timers[0]?.dueAt, at(67))
  })

  const retry = { _tag: "RetryPrompt", turnId: t(1), number: 1 } as const

  it("is sent again under the same ids when the wait is over", () => {
    const { identity } = given(working).state.turn?.prompt ?? assert.fail("nothing was prompted")
    const outcome = given([...working, failed(1, 1, "rate_limited")]).when(retry)
    assert.deepStrictEqual(outcome.types, ["PromptRetried"])
    assert.deepInclude(outcome.work[0]?.work, {
      _tag: "RunPrompt",
      number: 1,
      identity,
      turnWaitedMs: 30_000
    })
  })

  it("counts its usage once, and the retry as an attempt", () => {
    const after = [...working, failed(1, 1, "rate_limited"), retry, answer(1, 1, "x")]
    const done = given(after)
      .when(answer(1, 2, goodReport))
      .event("TurnCompleted")
    assert.deepInclude(done, { cost: 1, attempts: 2 })
  })

  it("waits twice as long each time", () => {
    const outcome = given([...working, failed(1, 1, "no_internet"), retry]).when(failed(1, 1, "no_internet"))
    assert.deepStrictEqual(outcome.types, ["AgentFailed", "TurnWaiting"])
    assert.strictEqual(outcome.timers[0]?.dueAt, at(120))
  })

  it("never waits longer than half an hour at a time, unless the runtime asks for more", () => {
    const patient = givenWith({ maxWait: Duration.days(1) })
    const failedAndRetried = [failed(1, 1, "rate_limited"), retry]
    const waitAfter = (failures: number, more: Parameters<typeof failed>[3] = {}) => {
      const history = [...working, ...Array.from({ length: failures }, () => failedAndRetried).flat()]
      return patient(history)
        .when(failed(1, 1, "rate_limited", more))
        .event("TurnWaiting").waitMs
    }
    assert.deepStrictEqual(
      [4, 5, 6, 7, 12].map((failures) => waitAfter(failures)),
      [8 * 60_000, 16 * 60_000, 30 * 60_000, 30 * 60_000, 30 * 60_000]
    )
    assert.strictEqual(waitAfter(6, { retryAfterMs: 45 * 60_000 }), 45 * 60_000)
  })

  it("adds up its waits, up to and including the longest total", () => {
    const history = [...working, failed(1, 1, "rate_limited"), retry]
    const typesWith = (maxWaitMs: number) =>
      givenWith({ maxWait: Duration.millis(maxWaitMs) })(history).when(failed(1, 1, "rate_limited")).types
    assert.include(typesWith(90_000), "TurnWaiting")
    assert.include(typesWith(89_999), "TurnFailed")
  })

  it("waits as long as its turn allows in place of the setting, also where the vendor names hours", () => {
    const typesWith = (maxWaitMs: number, setting: number) => {
      const history = [newTurn(1, { limits: { maxWaitMs } }), ...working.slice(1)]
      const limited = failed(1, 1, "rate_limited", { retryAfterMs: 5 * 60 * 60_000 })
      return givenWith({ maxWait: Duration.millis(setting) })(history).when(limited).types
    }
    assert.include(typesWith(5 * 60 * 60_000, 1), "TurnWaiting")
    assert.include(typesWith(1, 5 * 60 * 60_000), "TurnFailed")
  })

  it("ends the turn with the session usable when it has waited long enough", () => {
    const outcome = given(working).when(failed(1, 1, "out_of_credits", { waitedMs: 60 * 60_000 }))
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "out_of_credits", sessionUsable: true })
  })

  it.each(["rate_limited", "out_of_credits", "no_internet"] as const)(
    "as %s never makes its session unusable",
    (kind) => {
      const report = failed(1, 1, kind, { sessionUsable: false, waitedMs: 60 * 60_000 })
      assert.isTrue(given(working).when(report).event("TurnFailed").sessionUsable)
      const { onError } = defaultActions
      const continuing = givenWith({ actions: { onError: { ...onError, [kind]: ["continue"] } } })(working).when(report)
      assert.include(continuing.types, "PromptRetried")
    }
  )

  it("is not sent again by a timer that fires after the turn", () => {
    given(firstTurn).when(retry).then([])
    given([...working, failed(1, 1, "rate_limited"), { _tag: "AbortSession", sessionId, reason: "x" }])
      .when(retry)
      .then([])
  })

  it("because of inactivity aborts the session, so that it is never offered for continue", () => {
    const outcome = given(working).when(failed(1, 1, "timeout"))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "TurnFailed", "SessionAborted"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "timeout", sessionUsable: false })
    assert.strictEqual(outcome.state.status, "aborted")
  })

  it("because the runtime is gone leaves the session usable", () => {
    const outcome = given(working).when(failed(1, 1, "gone"))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "AgentGone", "TurnFailed"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "gone", sessionUsable: true })
  })

  it.each([
    ["unauthorized", true],
    ["turn-limit", true],
    ["aborted", true],
    ["session-missing", false],
    ["runtime", true]
  ] as const)("as %s ends the turn under this name, with the session usable: %s", (kind, sessionUsable) => {
    assert.deepInclude(
      given(working)
        .when(failed(1, 1, kind))
        .event("TurnFailed"),
      { kind, sessionUsable }
    )
  })

  it.each([
    ["nothing, when the runtime could not tell", undefined, false, undefined],
    ["that its agent was not given it", false, false, false],
    ["that its agent was given it", true, false, true],
    ["that its agent was given it, when it was seen working", false, true, true]
  ] as const)("says %s", (_, given_, worked, promptGiven) => {
    const seen = worked ? [{ _tag: "RecordWorking", turnId: t(1), number: 1, evidence: "tool" } as const] : []
    const outcome = given([...working, ...seen]).when(
      failed(1, 1, "gone", given_ === undefined ? {} : { given: given_ })
    )
    assert.strictEqual(outcome.event("TurnFailed").promptGiven, promptGiven)
  })

  it("counts its usage and every attempt", () => {
    const done = given([...working, answer(1, 1, "x", { attempts: 3 })]).when(answer(1, 2, goodReport, { attempts: 2 }))
    assert.strictEqual(done.event("TurnCompleted").attempts, 4)
    assert.strictEqual(
      given(working)
        .when(failed(1, 1, "gone"))
        .event("TurnFailed").cost,
      0.5
    )
  })

  it("is announced once while the runtime retries by itself", () => {
    const report = {
      _tag: "RecordRecovering",
      turnId: t(1),
      number: 1,
      kind: "rate_limited",
      message: "slow down"
    } as const
    assert.deepStrictEqual(given(working).when(report).types, ["AgentFailed"])
    given([...working, report])
      .when(report)
      .then([])
  })
})
