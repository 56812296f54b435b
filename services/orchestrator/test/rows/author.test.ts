import { assert, describe, it } from "@effect/vitest"
import { PhaseId, turnIdOf } from "@reprise/protocol"
import { row } from "../support/row.ts"
import { head, item, runId, withGates } from "../support/samples.ts"
import { story, toWorkspace } from "../support/story.ts"

const stepOptions = ["fix", "override", "abort"]

describe("EXECUTE", () => {
  it("verifies the commit of a complete report", () => {
    const s = story().executing()
    row(s, s.turnReport({ result: "complete", commit: "abc1234" })).sends([
      toWorkspace({
        _tag: "VerifyCommit",
        runId,
        phase: PhaseId.make("1"),
        commit: "abc1234",
        base: head,
        phaseBase: head,
        reviewPath: "docs/reviews/plan-phase-1-review.md"
      })
    ])
  })

  it("goes to QUALITY_CHECK when the commit is verified", () => {
    const { lines } = story().executing(withGates).worked("abc1234")
    assert.deepStrictEqual(lines, ["StepStarted QUALITY_CHECK (work-verified)", "workspace RunQualityGates"])
  })

  it("goes to REVIEW when the commit is verified and there are no gates", () => {
    const s = story().executing()
    s.completes("abc1234")
    const verified = row(s, { _tag: "CommitVerified", runId, phase: "1", commit: "abc1234ff" })
    assert.deepStrictEqual(verified.lines, ["StepStarted REVIEW (work-verified)", "reviewer RequestReview"])
  })

  it("goes to REVIEW when the commit is verified and gates are skipped", () => {
    const { lines } = story()
      .executing({ ...withGates, skipQuality: true })
      .worked("abc1234")
    assert.deepStrictEqual(lines, ["StepStarted REVIEW (work-verified)", "reviewer RequestReview"])
  })
})

describe("any author step", () => {
  it("notes what a person should know of a commit that is verified", () => {
    const s = story().executing().completes("abc1234")
    const event = {
      _tag: "CommitVerified" as const,
      runId,
      phase: s.phase.id,
      commit: "abc1234",
      notes: ["main moved"]
    }
    assert.strictEqual(s.tell(event).run.notices.at(-1), "main moved")
  })

  it("tells the author once, in the same session, what is wrong with a rejected commit", () => {
    const s = story().executing().completes("abc1234").commitRejected()
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    const { prompt, reason, session } = s.command("StartTurn")
    assert.deepStrictEqual(session, { _tag: "Existing", sessionId: s.author })
    assert.strictEqual(reason, "commit-rejected")
    assert.include(prompt, "rejected (missing):\n\n> abc1234 is nowhere")
  })

  it("hands over to a fresh author with the verified tasks when the session of a rejected commit has ended", () => {
    const completedTasks = [{ id: "P1.1", commit: "abc1234", files: [] }]
    const s = story().executing().completes("abc1234", { completedTasks })
    s.agent("SessionExpired").commitRejected()
    assert.deepStrictEqual(s.lines, ["workspace WriteContinuationState"])
    assert.deepStrictEqual(s.stateWritten().tasksVerified().lines, [
      "StepStarted EXECUTE (session-lost)",
      "session-manager StartTurn"
    ])
    assert.deepStrictEqual(s.command("StartTurn").session, { _tag: "New" })
  })

  it("asks a human with origin commit and offers the session when the commit is rejected again", () => {
    const s = story().executing().completes("abc1234").commitRejected().completes("abc1235").commitRejected()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    const { origin, sessionId, step } = s.question.ask
    assert.deepStrictEqual([origin, step, sessionId], ["commit", "EXECUTE", s.author])
    assert.deepStrictEqual(s.choices, ["continue-session", ...stepOptions])
  })

  for (const choice of ["continue-session", "fix"]) {
    it(`accepts a rewritten history on ${choice} after the commit was rejected again`, () => {
      const s = story().executing().worked("bcd2345").verdict("not_ready", item("R1"))
      const rejects = () =>
        s.completes("cde3456").tell({
          _tag: "CommitRejected",
          runId,
          phase: s.phase.id,
          commit: "cde3456",
          reason: "not-new",
          detail: "it does not come after bcd2345",
          base: "0000000a"
        })
      rejects()
      rejects()
      assert.include(s.question.ask.reason, "continue and fix accept it as it is now")
      s.answer(choice).completes("cde3456")
      assert.strictEqual(s.command("VerifyCommit").base, s.phase.base)
      assert.include(s.run.notices.join(), "it was accepted as it is")
    })
  }

  describe("after a history that goes back behind the phase", () => {
    const goesBack = (options: Parameters<ReturnType<typeof story>["executing"]>[0] = {}) => {
      const s = story().executing(options)
      const rejects = () =>
        s.completes("cde3456").tell({
          _tag: "CommitRejected",
          runId,
          phase: s.phase.id,
          commit: "cde3456",
          reason: "not-new",
          detail: "it does not come after the phase's base",
          base: "00000009"
        })
      rejects()
      return rejects()
    }

    it("does not accept it in auto mode: the author has to go on from where the phase began", () => {
      const s = goesBack({ auto: true, limits: { maxAutoRetries: 2 } })
      assert.strictEqual(s.phase.base, head)
      assert.strictEqual(s.completes("cde3456").command("VerifyCommit").base, head)
    })

    it("shows and reviews the changes since the phase began where a human accepts it, so that what is gone is seen", () => {
      const s = goesBack()
      assert.include(s.question.ask.reason, `until ${head}, where this phase began, is gone`)
      s.answer("fix").completes("cde3456")
      assert.deepInclude(s.command("VerifyCommit"), { base: "00000009", phaseBase: head })
      s.commitVerified()
      assert.strictEqual(s.command("RequestReview").base, head)
    })
  })

  for (const result of ["needs_human", "failed"] as const) {
    it(`asks a human and offers continue on a ${result} report`, () => {
      const s = story().executing().reports({ result, reason: "I am stuck" })
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
      const { evidence, origin, reason, sessionId } = s.question.ask
      assert.deepStrictEqual([origin, reason, sessionId], ["author", "I am stuck", s.author])
      assert.deepStrictEqual(s.choices, ["continue-session", ...stepOptions])
      assert.strictEqual(evidence.lastLines, "I stop here")
      assert.strictEqual(evidence.cost, 0.5)
    })
  }

  it("goes to CHECKPOINT on a checkpoint report", () => {
    const s = story().executing()
    s.reports({
      result: "checkpoint",
      checkpoint: { task: "P1.2", type: "decision", description: "Which?", options: [{ id: "a", label: "A" }] }
    })
    assert.deepStrictEqual(s.lines, [
      "StepStarted CHECKPOINT (checkpoint)",
      "CheckpointReached",
      "workspace WriteContinuationState"
    ])
    assert.deepStrictEqual(s.stateWritten().lines, ["gate RaiseEscalation", "StepWaiting CHECKPOINT"])
  })

  for (const kind of ["no_internet", "invalid-report", "runtime", "other"] as const) {
    it(`asks a human with the evidence but without continue when the turn failed (${kind})`, () => {
      const s = story().executing().turnFails(kind)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
      assert.includeMembers([...s.choices], stepOptions)
      assert.isUndefined(s.question.ask.sessionId)
      assert.strictEqual(s.question.ask.origin, "runtime")
      assert.include(s.question.ask.evidence.continueUnavailable, kind)
    })
  }

  it("shows a human the last lines of the turn that failed", () => {
    const s = story().executing()
    s.tell({ ...s.turnFailure("runtime"), lastLines: "I was about to commit" })
    assert.strictEqual(s.question.ask.evidence.lastLines, "I was about to commit")
  })

  it("asks a human without continue when the turn was refused", () => {
    const s = story().executing()
    s.tell({ _tag: "CommandRefused", runId, command: "StartTurn", reason: "the session is busy" })
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.deepStrictEqual(s.choices, stepOptions)
    assert.include(s.run.notices.join(), "the session is busy")
  })

  it("only notes the refusal of somebody else's command", () => {
    const s = story().executing()
    const refusal = { _tag: "CommandRefused", runId, command: "StartTurn", reason: "the session is busy" } as const
    s.tell(refusal, { causation: "a-bot-1" })
    assert.deepStrictEqual(s.lines, [])
    assert.include(s.run.notices.join(), "the session is busy")
    s.tell(refusal, { causation: `run.${runId}.7.0` })
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
  })

  it("offers continue when a turn failed but its session is usable", () => {
    const s = story().executing().turnFails("rate_limited", true)
    assert.strictEqual(s.choices[0], "continue-session")
  })

  it("verifies the completed tasks before a fresh author replaces a missing session", () => {
    const s = story().executing({ gates: { quality: ["npm test"] } })
    s.reports({ result: "complete", commit: "abc1", completedTasks: [{ id: "P1.1", commit: "abc1", files: [] }] })
    s.commitVerified().gates(false)
    assert.strictEqual(s.command("StartTurn").onMissing, "fail")
    s.turnFails("session-missing")
    assert.deepStrictEqual(s.lines, ["workspace WriteContinuationState"])
    s.stateWritten().tasksVerified()
    assert.deepStrictEqual(s.lines, ["StepStarted QUALITY_RETRY (session-lost)", "session-manager StartTurn"])
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "New" }, step: "QUALITY_RETRY" })
  })

  it("lets the session-manager replace a missing session when no task is done", () => {
    const s = story()
      .executing({ gates: { quality: ["npm test"] } })
      .worked("abc1")
      .gates(false)
    assert.deepInclude(s.command("StartTurn"), { onMissing: "fresh", step: "QUALITY_RETRY" })
  })

  it("asks a human without continue when the turn timed out, and aborts the session if it still lives", () => {
    const s = story().executing().turnFails("timeout")
    assert.deepStrictEqual(s.choices, stepOptions)
    assert.deepStrictEqual(story().executing().turnFails("timeout", true).lines, [
      "session-manager AbortSession",
      "gate RaiseEscalation",
      "StepWaiting EXECUTE"
    ])
  })

  const broken = [
    ["complete without commit in EXECUTE", { result: "complete" }],
    ["needs_human without reason", { result: "needs_human", reason: "  " }],
    ["failed without reason", { result: "failed" }],
    ["checkpoint without a checkpoint", { result: "checkpoint", reason: "x" }],
    ["a commit that is no hash", { result: "complete", commit: "HEAD" }],
    [
      "a task done by no commit",
      { result: "complete", commit: "abc1", completedTasks: [{ id: "T1", commit: "-", files: [] }] }
    ],
    [
      "a task without an id",
      { result: "complete", commit: "abc1", completedTasks: [{ id: "", commit: "abc1", files: [] }] }
    ]
  ] as const
  for (const [title, status] of broken) {
    it(`asks once in the same session to correct a report that breaks an invariant (${title})`, () => {
      const s = story().executing().reports(status)
      assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
      assert.strictEqual(s.command("StartTurn").session._tag, "Existing")
      assert.strictEqual(s.command("StartTurn").reason, "report-correction")
    })

    it(`asks a human without continue when the corrected report still breaks an invariant (${title})`, () => {
      const s = story().executing().reports(status).reports(status)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
      assert.deepStrictEqual(s.choices, stepOptions)
    })
  }

  it("treats a corrected report like a correct one", () => {
    const { lines } = story().executing().completes().completes("abc1234")
    assert.deepStrictEqual(lines, ["workspace VerifyCommit"])
  })

  it("counts the cost of every turn once, even if it is reported late", () => {
    const s = story().executing()
    const report = s.turnReport({ result: "needs_human", reason: "x" })
    s.tell(report).tell(report)
    s.tell({ ...report, turnId: turnIdOf(runId, 77) })
    assert.strictEqual(s.run.usage.author.turns, 2)
    assert.strictEqual(s.run.usage.author.tokens.input, 200)
  })

  it("ignores the events of another turn", () => {
    const s = story().executing()
    const other = { ...s.turnReport({ result: "complete", commit: "abc1234" }), turnId: turnIdOf(runId, 9) }
    s.tell(other)
    assert.deepStrictEqual(s.lines, [])
    assert.strictEqual(s.run.pending._tag, "Turn")
  })
})
