import { assert, describe, it } from "@effect/vitest"
import { item, onePhase, twoPhases, withGates } from "../support/samples.ts"
import { story } from "../support/story.ts"

const ready = (options: Parameters<ReturnType<typeof story>["executing"]>[0] = {}, plan = twoPhases) =>
  story().executing(options, plan).worked("abc1").verdict("ready")

describe("PHASE_GATE", () => {
  it("completes the phase if the tree is clean with gates.phase auto", () => {
    const s = ready()
    assert.deepStrictEqual(s.lines, ["StepStarted PHASE_GATE (verdict-ready)", "workspace FinishPhase"])
    assert.deepStrictEqual(s.treeClean().lines.slice(0, 2), [
      "StepStarted PHASE_COMPLETE (tree-clean)",
      "PhaseCompleted 1 by review"
    ])
  })

  it("asks a human when the tree is not clean; fix and continue lead to the author, who is told which files", () => {
    const s = ready().treeDirty("left.txt")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting PHASE_GATE"])
    const { evidence, origin } = s.question.ask
    assert.deepStrictEqual([origin, evidence.dirty], ["commit", ["left.txt"]])
    s.answer("continue-session")
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.include(s.prompt, "- left.txt")
    assert.deepStrictEqual(s.worked("abc2").lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
  })

  it("tells the author of a hundred files that are not committed, and how many there are besides", () => {
    const left = (count: number) =>
      ready()
        .treeDirty(...Array.from({ length: count }, (_, n) => `left-${n + 1}.txt`))
        .answer("continue-session").prompt
    assert.include(left(100), "- left-100.txt")
    assert.notInclude(left(100), "more: `git status`")
    assert.include(left(101), "- left-100.txt\n- and 1 more: `git status` lists them")
  })

  it("forgets the files that were left once the phase is reviewed again, so that the author fixes its findings", () => {
    const s = ready().treeDirty("left.txt").answer("continue-session").completes().verdict("not_ready", item("R1"))
    assert.include(s.prompt, "Reason of R1")
    assert.notInclude(s.prompt, "left.txt")
  })

  it("verifies and reviews the new commit when HEAD moved since the verdict", () => {
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

  it("runs the quality gates on the new commit first when HEAD moved since the verdict", () => {
    const s = story().executing(withGates).worked("abc1").gates(true).verdict("ready").headMoved("fff9")
    assert.deepStrictEqual(s.commitVerified().lines, [
      "StepStarted QUALITY_CHECK (head-moved)",
      "workspace RunQualityGates"
    ])
  })

  it("asks a human with origin commit when the commit that HEAD moved to is rejected", () => {
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

  it("starts an author who is told what a human says of the rejected commit that HEAD moved to", () => {
    const s = ready().headMoved("fff9").commitRejected().answer("fix", "Take that commit back.")
    assert.deepStrictEqual(s.lines, [
      "StepResumed PHASE_GATE (answer)",
      "StepStarted AUTO_FIX (fix)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.include(s.prompt, "Take that commit back.")
  })

  it("finishes an overridden phase on any HEAD", () => {
    const s = story().executing().needsHuman().answer("override")
    assert.notProperty(s.command("FinishPhase"), "approved")
  })

  it("asks a human with gates.phase human", () => {
    const s = ready({ gates: { phase: "human" } })
    assert.deepStrictEqual(s.lines, [
      "StepStarted PHASE_GATE (verdict-ready)",
      "gate RaiseEscalation",
      "StepWaiting PHASE_GATE"
    ])
    assert.strictEqual(s.question.ask.origin, "phase-gate")
    assert.deepStrictEqual(s.choices, ["continue", "pause", "abort"])
  })

  it("completes the phase on continue", () => {
    const s = ready({ gates: { phase: "human" } }).answer("continue")
    assert.deepStrictEqual(s.lines, ["StepResumed PHASE_GATE (answer)", "workspace FinishPhase"])
    assert.strictEqual(s.treeClean().run.outcomes[0]?.by, "review")
  })

  it("pauses the run on pause, and asks again when it is resumed", () => {
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

  it("aborts the run on abort", () => {
    assert.strictEqual(ready({ gates: { phase: "human" } }).answer("abort").run.status, "aborted")
  })

  it("asks nobody in auto mode, even with gates.phase human", () => {
    assert.deepStrictEqual(ready({ auto: true, gates: { phase: "human" } }).lines, [
      "StepStarted PHASE_GATE (verdict-ready)",
      "workspace FinishPhase"
    ])
  })
})

describe("PHASE_COMPLETE", () => {
  it("starts the next phase that is not approved with fresh author and reviewer sessions", () => {
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

  it("also works on phases that were added at the end", () => {
    const longer = `${onePhase}\n## Phase 2: One more\n\n- [ ] P2.1 Do\n`
    const s = ready({}, onePhase).treeClean(longer)
    assert.strictEqual(s.phase.id, "2")
    assert.include(s.prompt, "P2.1: Do")
  })

  it("does not take a mark in the plan's text for an approval", () => {
    const marked = twoPhases.replace("Second things", "Second things - COMPLETE")
    assert.strictEqual(ready().treeClean(marked).phase.id, "2")
  })

  it("writes SUMMARY and completes the run when no phase is left", () => {
    const s = ready({}, onePhase).treeClean()
    assert.deepStrictEqual(s.lines.slice(-1), ["workspace WriteSummary"])
    assert.include(s.command("WriteSummary").text, "## Task Results")
    assert.deepStrictEqual(s.summaryWritten().lines, ["RunCompleted", "workspace ReleaseWorkspace"])
    assert.strictEqual(s.run.status, "completed")
  })

  it("completes the run even if its summary cannot be written", () => {
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
    it(`asks a human with origin plan when phases were changed (${how})`, () => {
      const s = ready({}, twoPhases).treeClean(plan)
      assert.deepStrictEqual(s.lines.slice(-2), ["gate RaiseEscalation", "StepWaiting PHASE_COMPLETE"])
      assert.strictEqual(s.question.ask.origin, "plan")
      assert.strictEqual(s.run.outcomes.length, 1)
    })
  }

  it("reads the changed plan again on fix, and continues with the phases as they were on override", () => {
    const fixed = ready().treeClean(changed.renumbered).answer("fix")
    assert.deepStrictEqual(fixed.lines, ["StepResumed PHASE_COMPLETE (answer)", "workspace FinishPhase"])
    assert.strictEqual(fixed.treeClean().phase.id, "2")
    const overridden = ready().treeClean(changed.renumbered).answer("override")
    assert.strictEqual(overridden.phase.id, "2")
    assert.strictEqual(overridden.run.outcomes.length, 1)
  })

  it("asks once more about the dirty tree of an overridden phase, and continues on override", () => {
    const s = story().executing().needsHuman().answer("override").treeDirty("left.txt")
    assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    assert.strictEqual(s.answer("override").phase.id, "2")
  })

  it("puts what the reviewer raised on an approved phase into the summary", () => {
    const s = story().executing({}, onePhase).worked("abc1")
    s.verdict("ready", item("R7", "auto_fix", "P2")).treeClean()
    assert.include(s.command("WriteSummary").text, "Title of R7")
  })
})
