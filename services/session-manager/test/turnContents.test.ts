import { assert, describe, it } from "@effect/vitest"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { defaultActions } from "../src/settings.ts"
import {
  answer,
  badReport,
  failed,
  firstTurn,
  found,
  given,
  givenAsked,
  givenWith,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  sessionId,
  stopped,
  t,
  withReport
} from "./support/story.ts"

const working = firstTurn.slice(0, 2)

describe("a session that is continued", () => {
  it("keeps its title and its whole prompt where the command names none", () => {
    const history = [newTurn(1, { title: "Phase 2: Begin" }), ...firstTurn.slice(1)]
    const { session } = given(history).when(nextTurn(2)).event("TurnRequested")
    assert.deepInclude(session, { title: "Phase 2: Begin", wholePrompt: "You are the author of phase 2." })
  })

  it("gets the guidance with the whole prompt when it has to be replaced", () => {
    const go: SessionInput = {
      _tag: "ContinueSession",
      turnId: t(2),
      sessionId,
      onMissing: "fresh",
      guidance: "Use the old API.",
      step: "AUTO_FIX",
      model: "other/two"
    }
    const asked = given(firstTurn).when(go).event("TurnRequested").session
    assert.deepInclude(asked, { step: "AUTO_FIX", model: "other/two" })
    const { text } = given([...firstTurn, go, found(2, "missing")])
      .when(opened(2, "ses_2"))
      .event("PromptPrepared")
    assert.strictEqual(
      text,
      withReport(
        "You are the author of phase 2.\n\nThe user has provided the following additional guidance:\nUse the old API."
      )
    )
  })

  it.each([
    ["nothing named: as it was", {}, "first/one", "high"],
    ["another model has no variant of the one before", { model: "other/two" }, "other/two", undefined],
    ["a variant alone is one of its model", { variant: "low" }, "first/one", "low"]
  ] as const)("goes on with its model and variant: %s", (_, named, model, variant) => {
    const history = [newTurn(1, { model: "first/one", variant: "high" }), ...firstTurn.slice(1)]
    const go: SessionInput = { _tag: "ContinueSession", turnId: t(2), sessionId, onMissing: "fail", ...named }
    const { session } = given(history).when(go).event("TurnRequested")
    assert.deepStrictEqual([session.model, session.variant], [model, variant])
    const [prompted] = given([...history, go]).when(found(2)).work
    const chosen = variant === undefined ? {} : { variant }
    assert.deepInclude(prompted?.work, { _tag: "RunPrompt", model, ...chosen })
  })

  it.each([
    ["missing", "the runtime does not know it any more"],
    ["empty", "it holds no conversation that could be continued"]
  ] as const)("says why it is replaced when it is %s", (how, reason) => {
    const outcome = given([...firstTurn, nextTurn(2, { onMissing: "fresh" })]).when(found(2, how))
    assert.deepInclude(outcome.event("SessionLost"), { old: "ses_1", reason })
  })

  it("is announced as unauthorized when its runtime says so", () => {
    const outcome = given([...firstTurn, nextTurn(2)]).when({
      _tag: "RecordUnreachable",
      turnId: t(2),
      kind: "unauthorized",
      message: "no key"
    })
    assert.strictEqual(outcome.event("AgentFailed").kind, "unauthorized")
  })

  it("keeps its message count when the runtime reports none", () => {
    assert.strictEqual(given([...firstTurn, nextTurn(2), found(2), stopped(2, 1, "turn-limit")]).state.messages, 6)
  })

  it("shows the id of its newest prompt", () => {
    const { state } = given(firstTurn.slice(0, 3))
    assert.isString(state.turn?.prompt?.identity.messageId)
    assert.strictEqual(viewOf(state)?.lastPromptId, state.turn?.prompt?.identity.messageId)
  })
})

describe("a new session", () => {
  it("does not count as a replacement, however few messages it has", () => {
    const outcome = given(working).when(answer(1, 1, "x", { messages: 0 }))
    assert.deepStrictEqual(outcome.types, ["PromptEnded", "PromptPrepared"])
  })
})

describe("the request for a report", () => {
  const prompts = {
    "report-with-work": "In the end: {shape} {rules}",
    report: "Now tell me: {shape} {rules}",
    "report-unreadable": "Once more: {shape} {problem}"
  }
  const own = [newTurn(1, { prompts }), opened(1)]

  it("uses the user's own words, also when a report could not be read", () => {
    assert.match(given(own).state.turn?.prompt?.text ?? "", /\n\nIn the end: /)
    assert.match(
      given(own)
        .when(answer(1, 1, "x"))
        .event("PromptPrepared").text,
      /^Now tell me: /
    )
    const again = given(own).when(answer(1, 1, badReport))
    assert.match(again.event("PromptPrepared").text, /^Once more: /)
  })

  it("is repeated in the same words when a correction stopped half-way", () => {
    const correcting = [...firstTurn.slice(0, 2), answer(1, 1, badReport)]
    const asked = given(correcting).state.turn?.prompt ?? assert.fail("nothing was asked")
    const again = given(correcting)
      .when(stopped(1, 2, "turn-limit"))
      .event("PromptPrepared")
    assert.deepInclude(again, { kind: "correction", text: asked.text, because: "turn-limit" })
  })
})

describe("the end of a turn", () => {
  it("shows what the agent wrote before its reports, and how full its context is", () => {
    const history = [...firstTurn.slice(0, 3), answer(1, 2, badReport)]
    const done = givenAsked(history).when(answer(1, 3, goodReport, { context: { tokens: 900, limit: 1000 } }))
    assert.deepInclude(done.event("TurnCompleted"), {
      lastLines: "I did it.",
      context: { tokens: 900, limit: 1000 }
    })
  })

  it("leaves the session unusable when the configured action fails it", () => {
    const idle = givenWith({ actions: { onIdle: ["fail"] } })(working).when(stopped(1, 1, "unfinished"))
    assert.isFalse(idle.event("TurnFailed").sessionUsable)
    const gone = givenWith({ actions: { onGone: ["fail"] } })(working).when(failed(1, 1, "gone"))
    assert.strictEqual(gone.state.lastStopReason, "it was gone")
  })
})

describe("a failure", () => {
  const continuing = givenWith({ actions: { onError: { ...defaultActions.onError, other: ["continue"] } } })(working)

  it("of the runtime is treated as any other failure", () => {
    assert.include(continuing.when(failed(1, 1, "runtime")).types, "PromptRetried")
  })

  it("is named in the event of the action that is taken about it", () => {
    assert.deepInclude(continuing.when(failed(1, 1, "other")).event("ActionTaken"), {
      trigger: "error",
      about: "other"
    })
  })

  it("is not continued in a session that is unusable", () => {
    const outcome = continuing.when(failed(1, 1, "other", { sessionUsable: false }))
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "other", sessionUsable: false })
  })

  it("is announced when it differs from the failure before it", () => {
    const retry = { _tag: "RetryPrompt", turnId: t(1), number: 1 } as const
    const outcome = given([...working, failed(1, 1, "rate_limited"), retry]).when(failed(1, 1, "no_internet"))
    assert.strictEqual(outcome.event("AgentFailed").kind, "no_internet")
  })

  it("is announced again with the next prompt", () => {
    const recovering = (number: number): SessionInput => ({
      _tag: "RecordRecovering",
      turnId: t(1),
      number,
      kind: "rate_limited",
      message: "slow down"
    })
    const outcome = given([...working, recovering(1), answer(1, 1, "x")]).when(recovering(2))
    assert.deepStrictEqual(outcome.types, ["AgentFailed"])
  })
})
