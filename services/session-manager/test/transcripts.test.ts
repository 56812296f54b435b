/** What is saved of a conversation, when, and what a lost session is continued with. */
import { assert, describe, it } from "@effect/vitest"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { sameMessages } from "../src/work/saveNewMessages.ts"
import {
  answer,
  at,
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

const own = "session/r1-s1/ses_1"
const first = `${own}/first`
const saved = (object: string, messages: number, seconds: number): SessionInput => ({
  _tag: "RecordSaved",
  object,
  messages,
  digest: `d${messages}`,
  readAt: at(seconds)
})
const workOf = (outcome: ReturnType<ReturnType<typeof given>["when"]>) => outcome.work.map(({ work }) => work)

describe("what is new in a conversation", () => {
  it("is saved at the end of a turn, and the next turn does not wait for it", () => {
    const [save] = workOf(given(firstTurn.slice(0, 2)).when(answer(1, 1, goodReport)))
    assert.deepInclude(save, { _tag: "SaveNewMessages", object: own, runtimeSessionId: "ses_1" })
    assert.notProperty(save, "saved")
    assert.deepStrictEqual(given(firstTurn).when(nextTurn(2)).types, ["TurnRequested"])
  })

  it("is saved when the turn fails, when the session is paused, and when somebody else's work in it is over", () => {
    const human: SessionInput = { _tag: "ReportActivity", cause: "human", evidence: "text" }
    const pause: SessionInput = { _tag: "PauseIdle", useCount: given(firstTurn).state.useCount }
    const stopped: SessionInput = { _tag: "InterruptTurn", sessionId, turnId: t(1), reason: "the run is paused" }
    const interrupted: SessionInput = { _tag: "RecordInterrupted", turnId: t(1) }
    for (const outcome of [
      given([...firstTurn.slice(0, 2), stopped]).when(interrupted),
      given(firstTurn).when(pause),
      given([...firstTurn, human]).when({ _tag: "ReportIdle" })
    ]) {
      assert.deepStrictEqual(
        workOf(outcome).map(({ _tag }) => _tag),
        ["SaveNewMessages"],
        outcome.types.join()
      )
    }
  })

  it("follows what was saved before", () => {
    const later = [...firstTurn, saved(first, 6, 10), nextTurn(2), found(2)]
    const [save] = workOf(given(later).when(answer(2, 1, goodReport)))
    assert.deepInclude(save, { saved: { object: first, messages: 6, digest: "d6" } })
  })

  it("is known by the newest reading: one that was delivered late changes nothing", () => {
    const outcome = given([...firstTurn, saved(first, 6, 10)]).when(saved(`${own}/late`, 4, 9))
    assert.deepStrictEqual(outcome.types, [])
    assert.deepInclude(viewOf(outcome.state), { transcript: first, savedAt: at(10) })
  })

  it("does not replace the archive of a session that has ended", () => {
    const archived: SessionInput = { _tag: "RecordArchived", object: own, messages: 6 }
    const ended = [...firstTurn, saved(first, 6, 10), { _tag: "CompleteSession", sessionId } as const, archived]
    const outcome = given(ended).when(saved(`${own}/late`, 6, 500))
    assert.deepStrictEqual(outcome.types, [])
    assert.strictEqual(viewOf(outcome.state)?.transcript, own)
  })

  it("is found by comparison where the saved messages are not what they were", () => {
    const said = (id: string, text: string) => ({
      id,
      role: "user" as const,
      content: [{ type: "text" as const, text }]
    })
    const before = [said("1", "a"), said("2", "b")]
    assert.strictEqual(sameMessages(before, [said("1", "a"), said("2", "b"), said("3", "c")]), 2)
    assert.strictEqual(sameMessages(before, [said("1", "a"), said("2", "b and more")]), 1)
    assert.strictEqual(sameMessages(before, [said("1", "a")]), 1)
    assert.strictEqual(sameMessages(before, [said("9", "z")]), 0)
  })
})

describe("a lost session", () => {
  const known = [...firstTurn, saved(first, 6, 10)]

  it.each<readonly [string, ReadonlyArray<SessionInput>, "fail" | "reconstruct" | "fresh", string]>([
    ["is replaced by one that is told what was saved, if that was asked for", known, "reconstruct", "SessionLost"],
    ["fails the turn where nothing was saved, if that was asked for", firstTurn, "reconstruct", "TurnFailed"],
    ["fails the turn if no other session may take its place", known, "fail", "TurnFailed"],
    ["is replaced by one that may begin again, whether anything was saved or not", firstTurn, "fresh", "SessionLost"]
  ])("%s", (_, inputs, onMissing, expected) => {
    for (const how of ["missing", "empty"] as const) {
      assert.strictEqual(given([...inputs, nextTurn(2, { onMissing })]).when(found(2, how)).types[0], expected)
    }
  })

  it.each(["ExpireSession", "CompleteSession"] as const)("is not the same as one that has ended (%s)", (end) => {
    const outcome = given([...known, { _tag: end, sessionId }]).when(nextTurn(2, { onMissing: "reconstruct" }))
    assert.include(outcome.types, end === "ExpireSession" ? "SessionLost" : "TurnFailed")
  })

  it("may be one that has failed because its runtime lost it", () => {
    const failed = [...known, nextTurn(2), found(2, "missing")]
    assert.strictEqual(given(failed).state.status, "failed")
    assert.include(given(failed).when(nextTurn(3, { onMissing: "reconstruct" })).types, "SessionLost")
  })

  it("is told on: what the session in its place was told is lost with that, and told again", () => {
    const lost = [...known, nextTurn(2, { onMissing: "reconstruct" }), found(2, "missing")]
    const [open] = workOf(given(lost.slice(0, -1)).when(found(2, "missing")))
    assert.deepInclude(open, { _tag: "OpenSession", transcript: first })
    const second: SessionInput = { ...opened(2), runtimeSessionId: "ses_2", context: "what was said" } as SessionInput
    const replaced = given(lost).when(second)
    const prompt = replaced.event("PromptPrepared").text
    assert.isTrue(prompt.indexOf(newTurn(1).prompt) < prompt.indexOf("what was said"), "the task comes first")
    assert.include(prompt, nextTurn(2).prompt)
    const again = [...lost, second, answer(2, 1, goodReport), nextTurn(3, { onMissing: "reconstruct" })]
    assert.deepInclude(workOf(given(again).when(found(3, "missing")))[0], { _tag: "OpenSession", transcript: first })
  })
})
