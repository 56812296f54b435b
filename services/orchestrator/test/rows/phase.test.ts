import { assert, describe, it } from "@effect/vitest"
import { item, onePhase, story, twoPhases, withGates } from "../support/story.ts"

const ready = (options: Parameters<ReturnType<typeof story>["executing"]>[0] = {}, plan = twoPhases) =>
  story().executing(options, plan).worked("abc1").verdict("ready")

describe("PHASE_GATE", () => {
  it("gates.phase auto: PHASE_COMPLETE if the tree is clean", () => {
    const s = ready()
    assert.deepStrictEqual(s.lines, ["StepStarted PHASE_GATE (verdict-ready)", "workspace FinishPhase"])
    assert.deepStrictEqual(s.treeClean().lines.slice(0, 2), [
      "StepStarted PHASE_COMPLETE (tree-clean)",
      "PhaseCompleted 1 by review"
    ])
  })

  it("tree not clean: ESCALATE, origin commit; fix and continue lead to the author, who is told which files", () => {
    const s = ready().treeDirty("left.txt")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting PHASE_GATE"])
    const { evidence, origin } = s.question.ask
    assert.deepStrictEqual([origin, evidence.dirty], ["commit", ["left.txt"]])
    s.answer("continue-session")
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.include(s.prompt, "- left.txt")
    assert.deepStrictEqual(s.worked("abc2").lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
  })

  it("HEAD moved since the verdict: the new commit is verified, and reviewed in the reviewer's session", () => {
    const s = ready()
    assert.strictEqual(s.command("FinishPhase").approved, "abc1")
    s.headMoved("fff9")
    assert.deepStrictEqual(s.lines, ["workspace VerifyCommit"])
    assert.deepInclude(s.command("VerifyCommit"), { commit: "fff9", base: "abc1" })
    s.commitVerified()
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (head-moved)", "reviewer RequestReview"])
    assert.deepInclude(s.command("RequestReview"), { commit: "fff9", cycle: 2 })
    assert.strictEqual(s.verdict("ready").command("FinishPhase").approved, "fff9")
    assert.strictEqual(s.treeClean().run.outcomes[0]?.commit, "fff9")
  })

  it("HEAD moved since the verdict, with quality gates: they run on the new commit first", () => {
    const s = story().executing(withGates).worked("abc1").gates(true).verdict("ready").headMoved("fff9")
    assert.deepStrictEqual(s.commitVerified().lines, [
      "StepStarted QUALITY_CHECK (head-moved)",
      "workspace RunQualityGates"
    ])
  })

  it("HEAD moved to what is no new work: ESCALATE, origin commit", () => {
    const s = ready().headMoved("fff9").commitRejected()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting PHASE_GATE"])
    assert.strictEqual(s.question.ask.origin, "commit")
    s.answer("fix")
    assert.deepStrictEqual(s.lines, [
      "StepResumed PHASE_GATE (answer)",
      "StepStarted PHASE_GATE (fix)",
      "workspace FinishPhase"
    ])
  })

  it("overridden: finished on whatever HEAD is", () => {
    const s = story().executing().needsHuman().answer("override")
    assert.notProperty(s.command("FinishPhase"), "approved")
  })

  it("gates.phase human: a question", () => {
    const s = ready({ gates: { phase: "human" } })
    assert.deepStrictEqual(s.lines, [
      "StepStarted PHASE_GATE (verdict-ready)",
      "gate RaiseEscalation",
      "StepWaiting PHASE_GATE"
    ])
    assert.strictEqual(s.question.ask.origin, "phase-gate")
    assert.deepStrictEqual(s.choices, ["continue", "pause", "abort"])
  })

  it("answered continue: PHASE_COMPLETE", () => {
    const s = ready({ gates: { phase: "human" } }).answer("continue")
    assert.deepStrictEqual(s.lines, ["StepResumed PHASE_GATE (answer)", "workspace FinishPhase"])
    assert.strictEqual(s.treeClean().run.outcomes[0]?.by, "review")
  })

  it("answered pause: paused; resumed, it asks again", () => {
    const s = ready({ gates: { phase: "human" } }).answer("pause")
    assert.strictEqual(s.run.status, "paused")
    s.tell({ _tag: "ResumeRun", runId: s.run.runId })
    assert.deepStrictEqual(s.lines, [
      "RunResumed",
      "StepStarted PHASE_GATE (resumed)",
      "gate RaiseEscalation",
      "StepWaiting PHASE_GATE"
    ])
  })

  it("answered abort: aborted", () => {
    assert.strictEqual(ready({ gates: { phase: "human" } }).answer("abort").run.status, "aborted")
  })

  it("gates.phase human in auto mode: nobody is asked", () => {
    assert.deepStrictEqual(ready({ auto: true, gates: { phase: "human" } }).lines, [
      "StepStarted PHASE_GATE (verdict-ready)",
      "workspace FinishPhase"
    ])
  })
})

describe("PHASE_COMPLETE", () => {
  it("plan continued: next phase not approved, with fresh author and reviewer sessions", () => {
    const s = ready()
    const first = s.author
    s.treeClean(undefined, "beefbeef")
    assert.deepStrictEqual(s.lines.slice(2), [
      "session-manager CompleteSession",
      "reviewer CloseReview",
      "workspace WriteSummary",
      "PhaseStarted 2",
      "StepStarted EXECUTE (phase-started)",
      "session-manager StartTurn"
    ])
    assert.notStrictEqual(s.author, first)
    assert.strictEqual(s.phase.base, "beefbeef")
    assert.strictEqual(s.completes("abc9").command("VerifyCommit").base, "beefbeef")
  })

  it("phases added at the end are done as well", () => {
    const longer = `${onePhase}\n## Phase 2: One more\n\n- [ ] P2.1 Do\n`
    const s = ready({}, onePhase).treeClean(longer)
    assert.strictEqual(s.phase.id, "2")
    assert.include(s.prompt, "P2.1: Do")
  })

  it("a mark in the text is not what approves a phase", () => {
    const marked = twoPhases.replace("Second things", "Second things - COMPLETE")
    assert.strictEqual(ready().treeClean(marked).phase.id, "2")
  })

  it("none left: SUMMARY written, run completed", () => {
    const s = ready({}, onePhase).treeClean()
    assert.deepStrictEqual(s.lines.slice(-1), ["workspace WriteSummary"])
    assert.include(s.command("WriteSummary").text, "## Task Results")
    assert.deepStrictEqual(s.summaryWritten().lines, ["RunCompleted", "workspace ReleaseWorkspace"])
    assert.strictEqual(s.run.status, "completed")
  })

  it("a summary that cannot be written does not keep the run from completing", () => {
    const s = ready({}, onePhase).treeClean()
    s.tell({ _tag: "WorkspaceFailed", runId: s.run.runId, operation: "WriteSummary", reason: "disk full" })
    assert.strictEqual(s.run.status, "completed")
    assert.include(s.run.notices.join(), "disk full")
  })

  const changed = {
    renumbered: twoPhases.replace("Phase 2", "Phase 3"),
    removed: twoPhases.split("## Phase 2")[0],
    unreadable: "# Nothing\n"
  }
  for (const [how, plan] of Object.entries(changed)) {
    it(`phases ${how}: ESCALATE, origin plan`, () => {
      const s = ready({}, twoPhases).treeClean(plan)
      assert.deepStrictEqual(s.lines.slice(-2), ["gate RaiseEscalation", "StepWaiting PHASE_COMPLETE"])
      assert.strictEqual(s.question.ask.origin, "plan")
      assert.strictEqual(s.run.outcomes.length, 1)
    })
  }

  it("plan changed: fix reads it again, override goes on with the phases as they were", () => {
    const fixed = ready().treeClean(changed.renumbered).answer("fix")
    assert.deepStrictEqual(fixed.lines, ["StepResumed PHASE_COMPLETE (answer)", "workspace FinishPhase"])
    assert.strictEqual(fixed.treeClean().phase.id, "2")
    const overridden = ready().treeClean(changed.renumbered).answer("override")
    assert.strictEqual(overridden.phase.id, "2")
    assert.strictEqual(overridden.run.outcomes.length, 1)
  })

  it("an overridden phase with a dirty tree: asked once more, and override goes on", () => {
    const s = story().executing().needsHuman().answer("override").treeDirty("left.txt")
    assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    assert.strictEqual(s.answer("override").phase.id, "2")
  })

  it("what the reviewer raised on an approved phase is in the summary", () => {
    const s = story().executing({}, onePhase).worked("abc1")
    s.verdict("ready", item("R7", "auto_fix", "P2")).treeClean()
    assert.include(s.command("WriteSummary").text, "Title of R7")
  })
})
