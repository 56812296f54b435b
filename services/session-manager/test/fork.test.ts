import { assert, describe, it } from "@effect/vitest"
import { noTokens, noUsage, SessionId } from "@reprise/protocol"
import { viewOf } from "../src/machine/view.ts"
import { withForkedConversation } from "../src/prompts.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  answer,
  failed,
  found,
  given,
  givenOwn,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  own,
  ownTurn,
  sessionId,
  startAlone,
  t,
  withReport
} from "./support/story.ts"

const task = "Try it otherwise."
const point = { sessionId: SessionId.make("s0"), turn: 2 }
const start: SessionInput = { ...startAlone, prompt: task, directory: "/work/repository", fork: point }
const usageOf = (input: number) => ({ ...noUsage, tokens: { ...noTokens, input }, cost: input, calls: input })
const fresh = (n: number): SessionInput => ownTurn(newTurn(n, { fresh: true, prompt: task }))
const copied = own(1, { ...opened(1), inherited: usageOf(100), promptId: "msg_before" })
const working = [start, fresh(1), copied]

describe("a turn that has ended", () => {
  const first = [newTurn(1), opened(1), answer(1, 1, goodReport, { commit: "c1" })]

  it("is remembered with its last prompt and the commit at its end: a fork can begin there", () => {
    const { state } = given([...first, nextTurn(2), found(2), answer(2, 1, goodReport)])
    const turns = viewOf(state)?.pastTurns ?? []
    assert.deepStrictEqual(
      turns.map(({ commit, runtimeSessionId, turn, turnId }) => [turn, turnId, runtimeSessionId, commit]),
      [
        [1, t(1), "ses_1", "c1"],
        [2, t(2), "ses_1", undefined]
      ]
    )
    assert.strictEqual(turns[1]?.promptId, state.lastPromptId)
  })

  it("is not one to begin after when its words never reached the agent", () => {
    const lost = failed(2, 1, "gone", { given: false })
    const { state } = given([...first, nextTurn(2), found(2), lost, nextTurn(3), found(3), answer(3, 1, goodReport)])
    assert.deepStrictEqual(
      viewOf(state)?.pastTurns?.map(({ turn }) => turn),
      [1, 3]
    )
  })
})

describe("a fork", () => {
  it("shows where it begins, and its run knows nothing of that", () => {
    const outcome = given([]).when(start)
    assert.deepStrictEqual(viewOf(outcome.state)?.forkedFrom, point)
    assert.notInclude(JSON.stringify(outcome.sent), "fork")
  })

  it("is started once, and another fork does not get its id", () => {
    given([start]).when(start).then([])
    given([start])
      .when({ ...start, fork: { ...point, turn: 1 } })
      .refused(/exists already/)
  })

  it("is opened from the conversation of the other session", () => {
    const [asked] = givenOwn([start]).when(fresh(1)).work
    assert.deepInclude(asked?.work, { _tag: "OpenSession", fork: point })
  })

  it("gets the words of the user alone where the conversation was copied", () => {
    const outcome = given([start, fresh(1)]).when(copied)
    assert.strictEqual(outcome.event("PromptPrepared").text, withReport(task))
    assert.include(
      outcome.state.knownPromptIds,
      "msg_before",
      "what was said in the original is not a human's activity"
    )
  })

  it("is told the conversation where it could not be copied", () => {
    const forkTold = "The agent cannot fork sessions."
    const told = own(1, { ...opened(1), context: "--- user\nBefore.", forkTold })
    const outcome = given([start, fresh(1)]).when(told)
    assert.deepInclude(outcome.event("SessionCreated"), { forkTold })
    assert.strictEqual(viewOf(outcome.state)?.forkTold, forkTold)
    assert.strictEqual(
      outcome.event("PromptPrepared").text,
      withReport(withForkedConversation(task, "--- user\nBefore."))
    )
  })

  it("has used nothing of what was used in the original", () => {
    const { state } = given([...working, own(1, answer(1, 1, goodReport, { total: usageOf(130) }))])
    assert.deepInclude(state.used, { cost: 30, calls: 30 })
    const [archived] = given([...working, own(1, answer(1, 1, goodReport, { total: usageOf(130) }))]).when({
      _tag: "CompleteSession",
      sessionId
    }).work
    assert.deepInclude(archived?.work, { _tag: "SaveTranscript", usedEarlier: noUsage, inherited: usageOf(100) })
  })

  it("begins where it began before when a human has it start over, and counts that again as the original's", () => {
    const ended = [...working, own(1, failed(1, 1, "timeout"))]
    const [asked] = givenOwn(ended).when(fresh(2)).work
    assert.deepInclude(asked?.work, { _tag: "OpenSession", fork: point })
    const again = own(2, { ...opened(2, "ses_2"), inherited: usageOf(100) })
    const { state } = given([...ended, fresh(2), again])
    assert.deepStrictEqual([state.counted, state.inherited], [usageOf(100), usageOf(100)])
  })

  it("fails with its turn when there is nothing that it could begin with", () => {
    const never = own(1, {
      _tag: "RecordUnreachable" as const,
      turnId: t(1),
      kind: "runtime" as const,
      message: "Nothing of it was saved.",
      forGood: true
    })
    const outcome = given([start, fresh(1)]).when(never)
    assert.deepStrictEqual(outcome.types, ["TurnFailed", "SessionFailed"])
    assert.deepInclude(outcome.event("TurnFailed"), { sessionEnded: true, sessionUsable: false })
    assert.strictEqual(outcome.state.status, "failed")
  })
})
