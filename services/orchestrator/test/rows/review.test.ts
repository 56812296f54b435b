import { assert, describe, it } from "@effect/vitest"
import { row } from "../support/row.ts"
import { item, runId, story } from "../support/story.ts"

const reviewing = (options: Parameters<ReturnType<typeof story>["executing"]>[0] = {}) =>
  story().executing(options).worked("abc1234")

describe("REVIEW", () => {
  it("review cycles of this phase reached the limit: ESCALATE, origin limit, no agent called", () => {
    const s = reviewing({ limits: { maxReviewIterations: 2 } })
    s.verdict("not_ready", item("R1"), item("R2")).worked("abc1").verdict("not_ready", item("R1")).completes("abc2")
    s.commitVerified()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.question.ask.origin, "limit")
    assert.deepStrictEqual(s.question.ask.items, [item("R1")])
    assert.strictEqual(s.choices[0], "continue-session")
    assert.match(s.run.notices.join(), /reviewed 2 times/)
  })

  it("readiness ready: PHASE_GATE, items are kept as notes", () => {
    const s = reviewing()
    s.verdict("ready", item("R1", "human_required", "P2"))
    assert.deepStrictEqual(s.lines, ["StepStarted PHASE_GATE (verdict-ready)", "workspace FinishPhase"])
    s.treeClean()
    assert.deepStrictEqual(s.run.outcomes[0]?.notes, [item("R1", "human_required", "P2")])
  })

  for (const auto of [false, true]) {
    it(`any item human_required: ESCALATE, origin reviewer, items attached, retry step AUTO_FIX, no session id (auto ${auto})`, () => {
      const s = reviewing({ auto, limits: { maxAutoRetries: 0 } })
      s.verdict("not_ready", item("R1"), item("R2", "human_required"))
      if (auto) {
        assert.deepStrictEqual(s.lines.slice(0, 1), ["RunAborted"])
        return
      }
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
      const { items, origin, sessionId } = s.question.ask
      assert.deepStrictEqual([origin, sessionId, items?.length], ["reviewer", undefined, 2])
      assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
      assert.include(s.question.ask.evidence.continueUnavailable, "reviewer")
      assert.strictEqual(s.answer("fix").run.step, "AUTO_FIX")
    })
  }

  it("at least one auto_fix item: AUTO_FIX, in the author's session, with the items verbatim", () => {
    const s = reviewing()
    s.verdict("ready_with_corrections", item("R1", "auto_fix", "P0"))
    assert.deepStrictEqual(s.lines, ["StepStarted AUTO_FIX (items-to-fix)", "session-manager StartTurn"])
    const { onMissing, prompt, reason, session } = s.command("StartTurn")
    assert.deepStrictEqual([session._tag, reason, onMissing], ["Existing", "auto-fix", "fresh"])
    for (const text of ["R1", "P0", "Title of R1", "Reason of R1"]) assert.include(prompt, text)
  })

  it("items to fix when the author's session has expired: AUTO_FIX in a new session that is told all", () => {
    const s = reviewing().agent("SessionExpired")
    s.verdict("not_ready", item("R1"))
    const { prompt, session } = s.command("StartTurn")
    assert.strictEqual(session._tag, "New")
    assert.include(prompt, "P1.1: Begin")
    assert.include(prompt, "Reason of R1")
  })

  for (const readiness of ["not_ready", "ready_with_corrections"] as const) {
    it(`${readiness} and nothing to act on: ESCALATE, origin reviewer`, () => {
      const s = reviewing()
      s.verdict(readiness)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
      assert.strictEqual(s.question.ask.origin, "reviewer")
      assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    })
  }

  it("nothing to act on: fix reviews again in a new session, with guidance it leads to the author", () => {
    const again = reviewing()
    again.verdict("not_ready").answer("fix")
    assert.deepStrictEqual(again.lines, [
      "StepResumed REVIEW (answer)",
      "StepStarted REVIEW (fix)",
      "reviewer CloseReview",
      "reviewer RequestReview"
    ])
    const told = reviewing()
    told.verdict("not_ready").answer("fix", "make it blue")
    assert.strictEqual(told.run.step, "AUTO_FIX")
    assert.include(told.prompt, "make it blue")
  })

  it("review failed: ESCALATE, origin reviewer, retry step REVIEW with a fresh session", () => {
    const s = reviewing().reviewFails()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.question.ask.origin, "reviewer")
    s.answer("fix", "look harder")
    assert.strictEqual(s.run.step, "REVIEW")
    assert.deepStrictEqual(s.lines.slice(-2), ["reviewer CloseReview", "reviewer RequestReview"])
    assert.include(s.command("RequestReview").notes, "look harder")
    assert.strictEqual(s.command("RequestReview").cycle, 2)
  })

  it("a failed review does not use up a review cycle", () => {
    const s = reviewing({ limits: { maxReviewIterations: 1 } })
      .reviewFails()
      .answer("fix")
    assert.strictEqual(s.run.pending._tag, "Review")
  })

  it("a verdict of another cycle changes nothing", () => {
    const s = reviewing()
    row(s, { ...s.verdictEvent({ readiness: "ready", items: [] }), cycle: 7 }).then([])
  })

  it("a verdict on another commit than the verified one is no approval: it is reviewed again", () => {
    const s = reviewing()
    s.tell({ ...s.verdictEvent({ readiness: "ready", items: [] }), commit: "fffffff" })
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (verdict-of-another-commit)", "reviewer RequestReview"])
  })

  it("what the author said of items it declined reaches the next review, once", () => {
    const s = reviewing()
    s.verdict("not_ready", item("R1")).completes("abc1", { notes: "R1 is wrong" }).commitVerified()
    assert.strictEqual(s.command("RequestReview").notes, "R1 is wrong")
    s.verdict("not_ready", item("R1")).worked("abc2")
    assert.isUndefined(s.command("RequestReview").notes)
  })

  it("two verdicts in a row that raise no fewer items: ESCALATE before the limit", () => {
    const s = reviewing()
    for (const commit of ["abc1", "abc2"]) s.verdict("not_ready", item("R1")).worked(commit)
    s.verdict("not_ready", item("R1"))
    assert.strictEqual(s.question.ask.origin, "limit")
    s.answer("continue-session", "try the other way")
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.include(s.prompt, "try the other way")
  })

  it("asks for each cycle the same review of the whole phase, up to the newest verified commit", () => {
    const s = reviewing()
    s.verdict("not_ready", item("R1")).worked("abc9")
    const { base, commit, cycle } = s.command("RequestReview")
    assert.deepStrictEqual([base, commit, cycle], ["0000000a", "abc9", 2])
    assert.strictEqual(s.command("RequestReview").runId, runId)
  })
})
