import { assert, describe, it } from "@effect/vitest"
import {
  answer,
  badReport,
  failed,
  firstTurn,
  given,
  givenAsked,
  goodReport,
  sessionId,
  stopped
} from "./support/story.ts"

describe("a report", () => {
  const working = firstTurn.slice(0, 2)
  const reporting = firstTurn.slice(0, 3)

  it("at the end of the work ends the turn, which took one prompt", () => {
    const outcome = given(working).when(answer(1, 1, goodReport))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "TurnCompleted"])
    assert.deepInclude(outcome.event("TurnCompleted"), { status: { result: "complete", commit: "abc" } })
  })

  it("that is missing at the end of the work is requested once, by itself", () => {
    const outcome = given(working).when(answer(1, 1, "I did it."))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "PromptPrepared"])
    assert.deepInclude(outcome.event("PromptPrepared"), { kind: "report", because: "no-report" })
    const none = given(reporting).when(answer(1, 2, "I did it, as I said."))
    assert.deepInclude(none.event("TurnFailed"), { kind: "invalid-report", sessionUsable: true })
  })

  it("that does not fit at the end of the work is requested once more, with the reason", () => {
    const outcome = given(working).when(answer(1, 1, badReport))
    assert.strictEqual(outcome.event("PromptPrepared").kind, "correction")
    assert.include(outcome.event("PromptPrepared").text, "finished")
    const twice = given([...working, answer(1, 1, badReport)]).when(answer(1, 2, badReport))
    assert.deepInclude(twice.event("TurnFailed"), { kind: "invalid-report", sessionUsable: true })
  })

  it("that is older than a human's words is not read, and asked for again as often as they speak", () => {
    const outcome = given(working).when(answer(1, 1, goodReport, { spokenAfter: true }))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "PromptPrepared"])
    assert.deepInclude(outcome.event("PromptPrepared"), { kind: "report", because: "newer-words" })
    const again = given([...working, answer(1, 1, goodReport, { spokenAfter: true })])
    assert.strictEqual(again.when(answer(1, 2, badReport, { spokenAfter: true })).event("PromptPrepared").number, 3)
    assert.strictEqual(again.when(answer(1, 2, badReport)).event("PromptPrepared").kind, "correction")
  })

  it("after a human's words in the turn counts, and those are known", () => {
    const outcome = given(working).when(answer(1, 1, goodReport, { answered: "msg_human" }))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "TurnCompleted"])
    assert.strictEqual(outcome.state.knownPromptIds.at(-1), "msg_human")
  })

  it("is requested after the work alone, as the settings may have it, even where the work ends with a block", () => {
    assert.include(givenAsked(working).state.turn?.prompt?.text, "is asked for in the next prompt")
    const outcome = givenAsked(working).when(answer(1, 1, goodReport))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "PromptPrepared"])
    assert.strictEqual(outcome.event("PromptPrepared").kind, "report")
  })

  it("that does not fit is requested once more, with the reason", () => {
    const outcome = givenAsked(reporting).when(answer(1, 2, badReport))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "PromptPrepared"])
    assert.strictEqual(outcome.event("PromptPrepared").kind, "correction")
    assert.include(outcome.event("PromptPrepared").text, "result")
  })

  it("that does not fit a second time ends the turn, with the session usable", () => {
    const outcome = givenAsked([...reporting, answer(1, 2, badReport)]).when(answer(1, 3, "no block at all"))
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "invalid-report", sessionUsable: true })
    assert.isUndefined(outcome.state.turn)
  })

  it("that came too late is refused and changes nothing", () => {
    given(firstTurn)
      .when(answer(1, 2, goodReport))
      .refused(/came after the turn had moved on/)
    given(reporting)
      .when(answer(1, 1, "again"))
      .refused(/r1-t1/)
  })

  it("of an aborted turn is ignored", () => {
    given([...reporting, { _tag: "AbortSession", sessionId, reason: "x" }])
      .when(failed(1, 2, "aborted"))
      .then([])
  })
})

describe("a turn that stopped half-way", () => {
  it("continues once in the same session after a crash", () => {
    const outcome = given(firstTurn.slice(0, 2)).when(stopped(1, 1, "unfinished"))
    assert.deepInclude(outcome.event("PromptPrepared"), { kind: "continuation", number: 2 })
    assert.match(outcome.event("PromptPrepared").text, /^Continue the current session/)
  })

  it("is not continued a second time after a crash", () => {
    const outcome = given([...firstTurn.slice(0, 2), stopped(1, 1, "unfinished")]).when(stopped(1, 2, "unfinished"))
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "runtime", sessionUsable: true })
  })

  it("continues by itself six times after the turn limit, then fails with the session usable", () => {
    const limited = (count: number) => Array.from({ length: count }, (_, index) => stopped(1, index + 1, "turn-limit"))
    const before = firstTurn.slice(0, 2)
    assert.strictEqual(
      given([...before, ...limited(5)])
        .when(stopped(1, 6, "turn-limit"))
        .event("PromptPrepared").kind,
      "continuation"
    )
    const last = given([...before, ...limited(6)]).when(stopped(1, 7, "turn-limit"))
    assert.deepInclude(last.event("TurnFailed"), { kind: "turn-limit", sessionUsable: true })
  })

  it("gets the request for its report again in the same words", () => {
    const before = firstTurn.slice(0, 3)
    const asked = given(before).state.turn?.prompt ?? assert.fail("nothing was asked")
    const again = given(before)
      .when(stopped(1, 2, "unfinished"))
      .event("PromptPrepared")
    assert.deepInclude(again, { kind: "report", text: asked.text })
    assert.notStrictEqual(again.identity.messageId, asked.identity.messageId)
  })
})
