/** A turn that is interrupted, as `reprise pause --now` does: its session goes on later. */
import { assert, describe, it } from "@effect/vitest"
import { noTokens } from "@reprise/protocol"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  answer,
  failed,
  firstTurn,
  found,
  given,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  sessionId,
  t
} from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const interrupt = (n = 1): SessionInput => ({
  _tag: "InterruptTurn",
  sessionId,
  turnId: t(n),
  reason: "the run is paused"
})
const stopped = (n = 1, input = 0): SessionInput => ({
  _tag: "RecordInterrupted",
  turnId: t(n),
  total: { tokens: { ...noTokens, input }, cost: 0.5, calls: 1 },
  messages: 3
})

describe("a turn that is interrupted", () => {
  it("ends when nothing runs on the runtime any more, with its session usable", () => {
    const asked = given(working).when(interrupt())
    assert.deepStrictEqual(asked.types, ["TurnInterrupting"])
    assert.deepInclude(asked.work[0]?.work, { _tag: "InterruptSession", runtimeSessionId: "ses_1", turnId: t(1) })
    assert.isTrue(viewOf(asked.state)?.interrupting)
    const ended = given([...working, interrupt()]).when(stopped())
    assert.deepStrictEqual(ended.types, ["PromptEnded", "TurnFailed"])
    assert.deepInclude(ended.event("TurnFailed"), {
      kind: "aborted",
      sessionUsable: true,
      message: "the run is paused"
    })
  })

  it("counts what the runtime counts of its session beyond the earlier turns", () => {
    const first = given(firstTurn).state.used.tokens.input
    const history = [...firstTurn, nextTurn(2), found(2), interrupt(2)]
    const { cost, tokens } = given(history)
      .when(stopped(2, first + 700))
      .event("TurnFailed")
    assert.deepStrictEqual(tokens, { ...noTokens, input: 700 })
    assert.isAtLeast(cost, 0)
  })

  it("tells whether the agent was given the prompt, as its conversation shows", () => {
    const told = (found: { readonly given?: boolean }) =>
      given([...working, interrupt()])
        .when({ ...stopped(), ...found })
        .event("TurnFailed").promptGiven
    assert.isTrue(told({ given: true }))
    assert.isFalse(told({ given: false }))
    assert.isUndefined(told({}))
  })

  it("is followed by a turn in the same session", () => {
    const next = given([...working, interrupt(), stopped(), nextTurn(2)]).when(found(2))
    assert.include(next.types, "SessionReused")
  })

  it("starts no other turn until it has ended", () => {
    const busy = given([...working, interrupt()]).when(nextTurn(2))
    assert.include(busy.event("TurnFailed").message, "is busy with turn r1-t1")
  })

  it("reports nothing after that, whatever its prompt came to", () => {
    given([...working, interrupt()])
      .when(answer(1, 1, goodReport))
      .then([])
    given([...working, interrupt()])
      .when(failed(1, 1, "aborted"))
      .then([])
    given([...working, interrupt(), stopped()])
      .when(stopped())
      .then([])
  })

  it("ends at once where nothing was sent yet, and what was to be sent never is", () => {
    const inspecting = given([...firstTurn, nextTurn(2)]).when(interrupt(2))
    assert.deepInclude(inspecting.event("TurnFailed"), { sessionUsable: true, promptGiven: false })
    const opening = given([newTurn(1)]).when(interrupt())
    assert.isFalse(opening.event("TurnFailed").sessionUsable)
  })

  it("counts what its prompt used before it waited for a rate limit, and sends it no more", () => {
    const waiting = [...working, failed(1, 1, "rate_limited"), interrupt()]
    assert.strictEqual(given(waiting).when(stopped(1, 300)).event("TurnFailed").tokens.input, 300)
    const retry = { _tag: "RetryPrompt", turnId: t(1), number: 1 } as const
    given(waiting).when(retry).then([])
  })

  it("counts from the beginning of the runtime session that replaced another", () => {
    const fresh = nextTurn(2, { onMissing: "fresh" })
    const history = [...firstTurn, fresh, found(2, "missing"), opened(2, "ses_2"), interrupt(2)]
    assert.strictEqual(given(history).when(stopped(2, 300)).event("TurnFailed").tokens.input, 300)
  })

  it("never begins when the command to interrupt it passes the one that requests it, in a new session or a known one", () => {
    const early = given([]).when(interrupt())
    early.then([{ _tag: "InterruptedEarly", turnId: t(1), reason: "the run is paused" }])
    assert.isUndefined(viewOf(early.state))
    given([interrupt()]).when(interrupt()).then([])
    for (const [history, late, sessionUsable] of [
      [[interrupt()], newTurn(1), false],
      [[...firstTurn, interrupt(2)], nextTurn(2), true],
      [[...firstTurn, interrupt(2)], { _tag: "ContinueSession", sessionId, turnId: t(2), onMissing: "fresh" }, true]
    ] as ReadonlyArray<readonly [ReadonlyArray<SessionInput>, SessionInput, boolean]>) {
      const begun = given(history).when(late)
      assert.deepStrictEqual(begun.types, ["TurnFailed"])
      const failure = { kind: "aborted", message: "the run is paused", sessionUsable, promptGiven: false } as const
      assert.deepInclude(begun.event("TurnFailed"), failure)
      assert.notInclude(begun.work.map(({ work }) => work._tag).join(), "Session")
      given([...history, late])
        .when(late)
        .then([])
    }
  })

  it("leaves the turn that is open when another one is interrupted early", () => {
    const other = given(working).when(interrupt(2))
    assert.deepStrictEqual(other.types, ["InterruptedEarly"])
    assert.strictEqual(other.state.turn?.stage, "prompting")
  })

  it("changes nothing when the turn has ended, or is interrupted already", () => {
    given(firstTurn).when(interrupt()).then([])
    given([...working, interrupt()])
      .when(interrupt())
      .then([])
  })
})
