import { assert, describe, it } from "@effect/vitest"
import { row } from "../support/row.ts"
import { item, runId } from "../support/samples.ts"
import { story } from "../support/story.ts"

const reviewing = (options: Parameters<ReturnType<typeof story>["executing"]>[0] = {}) =>
  story().executing(options).worked("abc1234")

describe("REVIEW", () => {
  it("asks a human with origin limit, and calls no agent, when the phase has used up its reviews", () => {
    const s = reviewing({ limits: { maxReviewIterations: 2 } })
    s.verdict("not_ready", item("R1"), item("R2")).worked("abc1").verdict("not_ready", item("R1")).completes("abc2")
    s.commitVerified()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.question.ask.origin, "limit")
    assert.deepStrictEqual(s.question.ask.items, [item("R1")])
    assert.strictEqual(s.choices[0], "continue-session")
    assert.match(s.run.notices.join(), /reviewed 2 times/)
  })

  it("tells the reviewer the phase as the run took it from the plan, and what was changed since the phase began", () => {
    const { diffStat, planned } = reviewing().command("RequestReview")
    assert.strictEqual(diffStat, "1 file changed")
    assert.match(planned ?? "", /^Phase 1: .+\nIts tasks:\n- /)
  })

  it("goes to PHASE_GATE on a ready verdict and keeps its items as notes", () => {
    const s = reviewing()
    s.verdict("ready", item("R1", "human_required", "P2"))
    assert.deepStrictEqual(s.lines, ["StepStarted PHASE_GATE (verdict-ready)", "workspace FinishPhase"])
    s.treeClean()
    assert.deepStrictEqual(s.run.outcomes[0]?.notes, [item("R1", "human_required", "P2")])
  })

  it.each([
    ["a human's decision of P0", item("R1", "human_required", "P0"), "StepWaiting REVIEW"],
    ["a human's decision of P1", item("R1", "human_required", "P1"), "StepWaiting REVIEW"],
    ["a fix of P0", item("R1", "auto_fix", "P0"), "StepStarted AUTO_FIX (items-to-fix)"],
    ["a fix of P1", item("R1", "auto_fix", "P1"), "StepStarted AUTO_FIX (items-to-fix)"]
  ])("treats a ready verdict that asks for %s like one that is not ready", (_title, blocking, line) => {
    const s = reviewing().verdict("ready", item("R2", "auto_fix", "P2"), blocking)
    assert.include(s.lines, line)
    assert.deepStrictEqual(s.phase.items.length, 2)
  })

  for (const auto of [false, true]) {
    it(`asks a human with the items, without continue and with AUTO_FIX as the retry step, when any item is human_required (auto ${auto})`, () => {
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

  it("shows the human whom it asks which commit was reviewed and how much that changed", () => {
    const { evidence } = reviewing().verdict("not_ready", item("R1", "human_required")).question.ask
    assert.deepInclude(evidence, { commit: "abc1234", diffStat: "1 file changed" })
  })

  it("goes to AUTO_FIX in the author's session with the items verbatim", () => {
    const s = reviewing()
    s.verdict("ready_with_corrections", item("R1", "auto_fix", "P0"))
    assert.deepStrictEqual(s.lines, ["StepStarted AUTO_FIX (items-to-fix)", "session-manager StartTurn"])
    const { onMissing, prompt, reason, session } = s.command("StartTurn")
    assert.deepStrictEqual([session._tag, reason, onMissing], ["Existing", "auto-fix", "fresh"])
    for (const text of ["R1", "P0", "Title of R1", "Reason of R1"]) assert.include(prompt, text)
  })

  it("goes to AUTO_FIX in a new session with the full prompt when the author's session has expired", () => {
    const s = reviewing().agent("SessionExpired")
    s.verdict("not_ready", item("R1"))
    const { prompt, session } = s.command("StartTurn")
    assert.strictEqual(session._tag, "New")
    assert.include(prompt, "P1.1: Begin")
    assert.include(prompt, "Reason of R1")
  })

  for (const readiness of ["not_ready", "ready_with_corrections"] as const) {
    it(`asks a human on a ${readiness} verdict with nothing to act on`, () => {
      const s = reviewing()
      s.verdict(readiness)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
      assert.strictEqual(s.question.ask.origin, "reviewer")
      assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    })
  }

  it("reviews again in a new session on fix when there is nothing to act on; guidance goes to the author", () => {
    const again = reviewing()
    again.verdict("not_ready").answer("fix")
    assert.deepStrictEqual(again.lines, [
      "StepResumed REVIEW (answer)",
      "StepStarted REVIEW (fix)",
      "reviewer CloseReview",
      "reviewer RequestReview"
    ])
    const chosen = again.journal.findLast((event) => event._tag === "StepStarted")
    assert.notProperty(chosen, "session", "a human has chosen it")
    const told = reviewing()
    told.verdict("not_ready").answer("fix", "make it blue")
    assert.strictEqual(told.run.step, "AUTO_FIX")
    assert.include(told.prompt, "make it blue")
  })

  it("reviews once more in a new session when a review failed", () => {
    const s = reviewing().reviewBreaks()
    assert.deepStrictEqual(s.lines, [
      "StepStarted REVIEW (review-broke)",
      "reviewer CloseReview",
      "reviewer RequestReview"
    ])
    const verdicts = s.verdict("not_ready", item("R1")).worked("abc2").reviewBreaks()
    assert.strictEqual(verdicts.run.pending._tag, "Review", "a verdict in between lets it try again")
  })

  it.each(["rate_limited", "unauthorized", "aborted"] as const)(
    "asks a human at once when another reviewer would not help: %s",
    (kind) => {
      assert.strictEqual(reviewing().reviewBreaks(kind).question.ask.origin, "reviewer")
    }
  )

  it("asks a human when the second review in a row failed too, and reviews again in a new session on fix", () => {
    const s = reviewing().reviewFails()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.question.ask.origin, "reviewer")
    s.answer("fix", "look harder")
    assert.strictEqual(s.run.step, "REVIEW")
    assert.deepStrictEqual(s.lines.slice(-2), ["reviewer CloseReview", "reviewer RequestReview"])
    assert.deepInclude(s.command("RequestReview").words[0], { from: "human", text: "look harder" })
    assert.strictEqual(s.command("RequestReview").cycle, 3)
  })

  it("does not count a failed review as a review cycle", () => {
    const s = reviewing({ limits: { maxReviewIterations: 1 } })
      .reviewFails()
      .answer("fix")
    assert.strictEqual(s.run.pending._tag, "Review")
  })

  it("ignores a verdict of another cycle", () => {
    const s = reviewing()
    row(s, { ...s.verdictEvent({ readiness: "ready", items: [] }), cycle: 7 }).then([])
  })

  it("reviews again when the verdict is about another commit than the verified one", () => {
    const s = reviewing()
    s.tell({ ...s.verdictEvent({ readiness: "ready", items: [] }), commit: "fffffff" })
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (verdict-of-another-commit)", "reviewer RequestReview"])
  })

  it("passes the author's notes on declined items to every later review, under the same id", () => {
    const s = reviewing()
    s.verdict("not_ready", item("R1")).completes("abc1", { notes: "R1 is wrong" }).commitVerified()
    const { words } = s.command("RequestReview")
    assert.deepStrictEqual(words, [{ id: 1, from: "author", text: "R1 is wrong", givenTo: [] }])
    s.verdict("not_ready", item("R1")).worked("abc2")
    assert.deepInclude(s.command("RequestReview").words[0], { id: 1, text: "R1 is wrong" })
  })

  it("asks a human before the limit when two verdicts in a row raise no fewer items", () => {
    const s = reviewing()
    for (const commit of ["abc1", "abc2"]) s.verdict("not_ready", item("R1")).worked(commit)
    s.verdict("not_ready", item("R1"))
    assert.strictEqual(s.question.ask.origin, "limit")
    s.answer("continue-session", "try the other way")
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.include(s.prompt, "try the other way")
  })

  it("does not count the first items after a verdict without any as a review without progress", () => {
    const s = reviewing().verdict("not_ready").answer("fix").verdict("not_ready", item("R1")).worked("abc1")
    assert.deepStrictEqual(s.verdict("not_ready", item("R1")).lines[0], "StepStarted AUTO_FIX (items-to-fix)")
  })

  it("asks in each cycle for a review of the whole phase up to the newest verified commit", () => {
    const s = reviewing()
    s.verdict("not_ready", item("R1")).worked("abc9")
    const { base, commit, cycle } = s.command("RequestReview")
    assert.deepStrictEqual([base, commit, cycle], ["0000000a", "abc9", 2])
    assert.strictEqual(s.command("RequestReview").runId, runId)
  })
})
