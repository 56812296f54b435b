import { assert, describe, it } from "@effect/vitest"
import { noTokens } from "@reprise/protocol"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  answer,
  at,
  badReport,
  failed,
  firstTurn,
  found,
  given,
  givenAsked,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  t
} from "./support/story.ts"

const withModel = [newTurn(1, { model: "vendor/large" }), opened(1)]
const working = firstTurn.slice(0, 2)
const retry = { _tag: "RetryPrompt", turnId: t(1), number: 1 } as const satisfies SessionInput

describe("the host of a session", () => {
  it("is told the model, the phase and the step of the turn", () => {
    const open = given([]).when(newTurn(1, { model: "vendor/large" }))
    assert.deepInclude(open.work[0]?.work, { _tag: "OpenSession", model: "vendor/large" })
    const prompt = given([newTurn(1, { model: "vendor/large" })]).when(opened(1))
    assert.deepInclude(prompt.work[0]?.work, {
      _tag: "RunPrompt",
      model: "vendor/large",
      phase: "2",
      step: "EXECUTE"
    })
    assert.strictEqual(viewOf(given(withModel).state)?.model, "vendor/large")
  })

  it("is told with each prompt when the turn began and what it used before", () => {
    const outcome = given(working).when(answer(1, 1, "I did it."))
    assert.deepInclude(outcome.work[0]?.work, {
      number: 2,
      usedBefore: { tokens: { ...noTokens, input: 10, output: 2 }, cost: 0.5, calls: 1 },
      counted: { tokens: { ...noTokens, input: 10, output: 2 }, cost: 0.5, calls: 1 },
      turnStartedAt: at(0)
    })
  })

  it("is told how long the turn has waited for failures and for humans, all prompts together", () => {
    const twice = [...working, failed(1, 1, "rate_limited"), retry, failed(1, 1, "rate_limited"), retry]
    const first = given(twice).when(answer(1, 1, "x", { humanMs: 5_000 }))
    assert.deepInclude(first.work[0]?.work, { turnWaitedMs: 95_000 })
    const second = givenAsked([...twice, answer(1, 1, "x", { humanMs: 5_000 })])
    assert.deepInclude(second.when(answer(1, 2, badReport, { humanMs: 2_000 })).work[0]?.work, { turnWaitedMs: 97_000 })
  })

  it("gets no transcript of an earlier runtime session than the one that was lost", () => {
    const saved: SessionInput = { _tag: "RecordArchived", object: "session/r1-s1/ses_1", messages: 4 }
    const replaced = [
      ...firstTurn,
      saved,
      nextTurn(2, { onMissing: "fresh" }),
      found(2, "missing"),
      opened(2, "ses_2"),
      answer(2, 1, "x"),
      answer(2, 2, goodReport),
      nextTurn(3, { onMissing: "fresh" })
    ]
    const { work } = given(replaced).when(found(3, "missing")).work[0] ?? assert.fail("no work")
    assert.strictEqual(work._tag, "OpenSession")
    assert.notProperty(work, "transcript")
  })

  it("is sent the earlier conversation with the whole prompt when a session is replaced", () => {
    const lost = [
      ...firstTurn,
      nextTurn(2, { onMissing: "fresh", freshPrompt: "The whole task." }),
      found(2, "missing")
    ]
    const { text } = given(lost)
      .when({ ...opened(2, "ses_2"), context: "user: begin with the tests" })
      .event("PromptPrepared")
    assert.match(text, /^The whole task\./)
    assert.include(text, "user: begin with the tests")
  })
})

describe("the timers of a session", () => {
  it("are not set by a request that is refused while a turn is open", () => {
    assert.deepStrictEqual(given(working).when(nextTurn(2)).timers, [])
  })

  it("carry the use count at which the session was paused", () => {
    const { phase: _, ...ofNoPhase } = newTurn(1)
    const history = [ofNoPhase, ...firstTurn.slice(1)]
    const paused = given(history).when({ _tag: "PauseIdle", useCount: given(history).state.useCount })
    assert.deepStrictEqual(paused.timers[0]?.command, { _tag: "ExpireIdle", useCount: paused.state.useCount })
  })
})

describe("the refusal of a turn in a session that never existed", () => {
  it("is published to whoever waits for the turn and to the sender of the command", () => {
    assert.deepStrictEqual(
      given([])
        .when(nextTurn(1))
        .published.map(({ _tag }) => _tag),
      ["TurnFailed", "CommandRefused"]
    )
  })

  it("does not make a late report of the turn a stale one", () => {
    given([])
      .when(answer(1, 1, "x"))
      .then([])
  })
})
