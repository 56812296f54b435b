import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { row } from "../support/row.ts"
import { item, runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const asked = () => story().executing().needsHuman()
const guidance = "First line.\n\n  Second $& line, with {braces} and 'quotes'."

describe("ESCALATE", () => {
  it("continues the same session in the retry step with the guidance on continue-session", () => {
    const s = asked().answer("continue-session", guidance)
    assert.deepStrictEqual(s.lines, [
      "StepResumed EXECUTE (answer)",
      "StepStarted EXECUTE (continue)",
      "session-manager ContinueSession"
    ])
    const command = s.command("ContinueSession")
    assert.deepStrictEqual(
      [command.sessionId, command.guidance, command.onMissing, command.step],
      [s.author, guidance, "reconstruct", "EXECUTE"]
    )
  })

  it("starts a new session in the retry step with the full prompt and the guidance on fix", () => {
    const s = asked()
    const before = s.author
    s.answer("fix", guidance)
    assert.deepStrictEqual(s.lines, [
      "StepResumed EXECUTE (answer)",
      "StepStarted EXECUTE (fix)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.notStrictEqual(s.author, before)
    const { prompt, session } = s.command("StartTurn")
    assert.strictEqual(session._tag, "New")
    assert.include(prompt, "P1.1: Begin")
    assert.isTrue(prompt.endsWith(`The user has provided the following additional guidance:\n${guidance}`))
  })

  it("writes and verifies the continuation state first on fix when tasks of the phase are done", () => {
    const s = story().executing()
    s.reports({
      result: "needs_human",
      reason: "stuck",
      completedTasks: [{ id: "P1.1", commit: "abc1234", files: ["a.ts"] }]
    })
    s.answer("fix")
    assert.deepStrictEqual(s.lines, ["StepResumed EXECUTE (answer)", "workspace WriteContinuationState"])
    assert.deepStrictEqual(s.stateWritten("state.file").lines, ["workspace VerifyContinuation"])
    assert.deepStrictEqual(s.tasksVerified().lines, [
      "StepStarted EXECUTE (fix)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.include(s.prompt, "state.file")
    assert.include(s.prompt, "| P1.1 | Begin | abc1234 | a.ts | complete |")
  })

  it("completes the phase and records who overrode it and why on override", () => {
    const s = asked().answer("override", "good enough")
    assert.deepStrictEqual(s.lines, [
      "StepResumed EXECUTE (answer)",
      "StepStarted PHASE_COMPLETE (override)",
      "PhaseCompleted 1 by override",
      "session-manager CompleteSession",
      "workspace FinishPhase"
    ])
    const [outcome] = s.run.outcomes
    assert.deepStrictEqual([outcome?.by, outcome?.who, outcome?.guidance], ["override", "anna", "good enough"])
    assert.strictEqual(s.treeClean().phase.id, "2")
  })

  it("aborts the run and its sessions and keeps the workspace on abort", () => {
    const s = asked().answer("abort", "enough of it")
    assert.deepStrictEqual(s.lines, ["RunAborted", "session-manager AbortSession", "workspace ReleaseWorkspace"])
    assert.strictEqual(s.command("ReleaseWorkspace").outcome, "aborted")
    assert.strictEqual(s.run.reason, "aborted by anna through cli: enough of it")
  })

  it("retries as fix without a human in auto mode while a retry is left", () => {
    const s = story().executing({ auto: true }).needsHuman()
    assert.deepStrictEqual(s.lines, [
      "StepStarted EXECUTE (auto-retry)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.strictEqual(s.command("StartTurn").session._tag, "New")
    assert.match(s.run.notices.join(), /Auto mode tries again: I need to know more/)
  })

  it("aborts the run and lists every reason in auto mode when no retry is left", () => {
    const s = story().executing({ auto: true })
    for (const reason of ["one", "two", "three", "four"]) s.needsHuman(reason)
    assert.strictEqual(s.run.status, "aborted")
    for (const reason of ["one", "two", "three", "four"]) assert.include(s.run.reason, reason)
  })

  it("counts the retries of auto mode per phase", () => {
    const s = story().executing({ auto: true, limits: { maxAutoRetries: 1 } })
    s.needsHuman().phaseApproved("abc1").needsHuman()
    assert.strictEqual(s.run.status, "running")
    assert.strictEqual(s.needsHuman().run.status, "aborted")
  })

  it("aborts the run when its budget is used up in auto mode", () => {
    const s = story().executing({ auto: true, limits: { costBudget: 0.4 } })
    s.worked("abc1")
    assert.strictEqual(s.run.status, "aborted")
    assert.include(s.run.reason, "budget is $0.4")
  })
})

describe("where continue leads", () => {
  it("leads from exhausted quality retries to QUALITY_RETRY with the guidance", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
      .gates(false)
    s.answer("continue-session", guidance)
    assert.deepStrictEqual(s.lines, [
      "StepResumed QUALITY_CHECK (answer)",
      "StepStarted QUALITY_RETRY (continue)",
      "session-manager StartTurn"
    ])
    const { onMissing, prompt, reason, session } = s.command("StartTurn")
    assert.deepStrictEqual(
      [session, onMissing, reason],
      [{ _tag: "Existing", sessionId: s.author }, "reconstruct", "continue"]
    )
    assert.isTrue(prompt.startsWith("Continue the current session and complete all remaining tasks."))
    assert.include(prompt, "$ npm test")
    assert.isTrue(prompt.endsWith(guidance))
  })

  it("leads from the review limit to AUTO_FIX with the guidance, and grants one more review cycle", () => {
    const s = story()
      .executing({ limits: { maxReviewIterations: 1 } })
      .worked("abc1")
    s.verdict("not_ready", item("R1")).completes()
    s.answer("continue-session", guidance)
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.include(s.prompt, "Reason of R1")
    assert.isTrue(s.prompt.endsWith(guidance))
    s.completes()
    assert.strictEqual(s.run.pending._tag, "Review")
    assert.deepStrictEqual(s.verdict("not_ready", item("R1")).completes().lines, [
      "gate RaiseEscalation",
      "StepWaiting REVIEW"
    ])
  })

  it("leads from a commit that was rejected twice to the same step, and says what is wrong with it", () => {
    const s = story().executing().completes("abc1").commitRejected().completes("abc2").commitRejected()
    s.answer("continue-session")
    assert.strictEqual(s.run.step, "EXECUTE")
    assert.include(s.prompt, "abc2 is nowhere")
  })

  it("leads from AUTO_FIX to AUTO_FIX", () => {
    const s = story().executing().worked("abc1")
    s.verdict("not_ready", item("R1")).needsHuman().answer("continue-session")
    assert.strictEqual(s.run.step, "AUTO_FIX")
    assert.strictEqual(s.command("ContinueSession").step, "AUTO_FIX")
  })
})

describe("when continue is offered", () => {
  it("is not offered after a continued turn that reported a failure", () => {
    const s = asked().answer("continue-session").reports({ result: "failed", reason: "no" })
    assert.notInclude(s.choices, "continue-session")
    assert.strictEqual(s.question.ask.evidence.continueUnavailable, "the turn that continued it failed")
  })

  it("is not offered after a continued turn whose commit was rejected, and that reported a failure then", () => {
    const s = asked().answer("continue-session").completes("abc1234").commitRejected()
    assert.notInclude(s.reports({ result: "failed", reason: "no" }).choices, "continue-session")
  })

  it("names no session to open that has ended", () => {
    const timedOut = story().executing().turnFails("timeout")
    const neverOpened = story().executing()
    neverOpened.tell({ ...neverOpened.turnFailure("runtime"), sessionEnded: true })
    for (const { question } of [timedOut, neverOpened]) {
      assert.isUndefined(question.ask.sessionId ?? question.ask.evidence.sessionId)
    }
  })

  it("is not offered after a continued turn that broke, even if the session-manager calls the session usable", () => {
    for (const kind of ["gone", "unauthorized", "turn-limit"] as const) {
      const s = asked().answer("continue-session").turnFails(kind, true)
      assert.notInclude(s.choices, "continue-session")
    }
  })

  it("is offered again after a rate-limit, credit or network failure of a continued turn", () => {
    for (const kind of ["rate_limited", "out_of_credits", "no_internet"] as const) {
      const s = asked().answer("continue-session").turnFails(kind, true)
      assert.include(s.choices, "continue-session")
      assert.strictEqual(s.phase.failedContinuations, 0)
    }
  })

  it("is not offered at a checkpoint or a phase gate, where the session is only evidence", () => {
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    const reached = story().executing().reports({ result: "checkpoint", checkpoint }).stateWritten()
    const gate = story()
      .executing({ gates: { phase: "human" } })
      .worked("abc1")
      .verdict("ready")
    for (const s of [reached, gate]) {
      const { evidence, options, sessionId } = s.question.ask
      assert.isUndefined(sessionId)
      assert.strictEqual(evidence.sessionId, s.phase.author?.sessionId)
      assert.notInclude(
        options.map(({ name }) => name),
        "continue-session"
      )
    }
  })

  it("is offered again after a continued turn that needs a human", () => {
    assert.include(asked().answer("continue-session").needsHuman().choices, "continue-session")
  })

  for (const end of ["SessionExpired", "SessionAborted"] as const) {
    it(`is withdrawn from the open question, with the reason, once the session has ended (${end})`, () => {
      const s = asked().agent(end)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation"])
      assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
      const { escalationId, evidence } = s.question.ask
      assert.strictEqual(escalationId, "r1-test-e1")
      assert.include(evidence.continueUnavailable, "session")
    })
  }

  it("stays offered when the session of an earlier author ends", () => {
    const s = asked()
    const earlier = s.author
    s.answer("fix").needsHuman().agent("SessionExpired", earlier)
    assert.deepStrictEqual(s.lines, [])
    assert.include(s.choices, "continue-session")
  })

  it("is asked about again, without losing the guidance, when the answer came after the session's end", () => {
    const s = asked()
    const late = s.answerOf({ choice: "continue-session", guidance })
    s.agent("SessionExpired").tell(late)
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.strictEqual(s.question.ask.escalationId, "r1-test-e2")
    assert.include(s.answer("fix").prompt, guidance)
  })
})

describe("what fix does", () => {
  const failing = () => story().executing(withGates).worked("abc1")
  const labels: ReadonlyArray<readonly [string, string, () => Story]> = [
    ["in an author's step", "fix in new session (start fresh with optional guidance)", asked],
    [
      "when the workspace failed",
      "try it again",
      () => failing().tell({ _tag: "WorkspaceFailed", runId, operation: "RunQualityGates", reason: "disk full" })
    ],
    [
      "when no agent works in the step",
      "try it again",
      () =>
        story()
          .executing({ ...withGates, limits: { maxStepsPerRun: 1 } })
          .worked("abc1")
    ],
    ["after a failed review", "review again in a new session", () => story().executing().worked("abc1").reviewFails()],
    [
      "when the phase is complete",
      "look at the working tree again",
      () => asked().answer("override").treeDirty("left-over.ts")
    ]
  ]

  it.each(labels)("is what its label says %s: %s", (_, label, at) => {
    assert.strictEqual(at().question.ask.options.find(({ name }) => name === "fix")?.label, label)
  })
})

describe("guidance", () => {
  it("reaches every fresh author of the phase, and a continued author once", () => {
    const s = asked().answer("continue-session", "one").needsHuman().answer("continue-session", "two")
    assert.strictEqual(s.command("ContinueSession").guidance, "two")
    s.needsHuman().answer("fix", "three")
    assert.isTrue(s.prompt.endsWith("one\n\ntwo\n\nthree"))
  })

  it("is given again after a failed turn, which may not have read it", () => {
    const s = asked().answer("fix", "one").turnFails("gone", true)
    assert.strictEqual(s.answer("continue-session", "two").command("ContinueSession").guidance, "one\n\ntwo")
  })

  it("does not reach the next phase when only the reviewer was given it", () => {
    const s = story().executing().worked("abc1").reviewFails().answer("fix", "only here")
    assert.deepInclude(s.command("RequestReview").words[0], { from: "human", text: "only here" })
    assert.notInclude(s.verdict("ready").treeClean().prompt, "only here")
  })

  it("does not reach the next phase", () => {
    const s = asked().answer("fix", "only here").phaseApproved("abc1")
    assert.notInclude(s.prompt, "only here")
  })
})

describe("answers", () => {
  it("are refused unless they come from the gate, and the question stays open", () => {
    const s = story().executing().needsHuman()
    const answer = s.answerOf({ choice: "override" })
    const refused = Result.getOrThrow(Result.flip(s.try(answer, { id: "a-bot-1" })))
    assert.strictEqual(refused.code, "not-from-gate")
    assert.match(refused.reason, /Only the gate hands answers on: send AnswerEscalation to escalation /)
    assert.strictEqual(s.run.status, "waiting")
    s.tell(answer)
    assert.strictEqual(s.run.status, "running")
  })

  it("are refused when the question is closed, and say who answered it", () => {
    const s = asked()
    const answer = s.answerOf({ choice: "override" })
    row(s.answer("fix"), answer).refused(
      "Escalation r1-test-e1 is not open: anna answered 'fix' through cli. The answer changes nothing."
    )
  })

  it("may name an option by its key", () => {
    assert.strictEqual(asked().answer("c").command("ContinueSession").step, "EXECUTE")
  })

  it("lead to the same question under a new id when they are no choice", () => {
    const s = asked().answer("perhaps")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.strictEqual(s.question.ask.escalationId, "r1-test-e2")
  })

  it("are asked for again when somebody else withdraws the question", () => {
    const s = asked()
    const { escalationId } = s.question.ask
    s.tell({ _tag: "EscalationWithdrawn", runId, escalationId, reason: "superseded" })
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
  })
})

describe("the workspace breaks", () => {
  it("asks a human with origin workspace, and repeats the same command on fix", () => {
    const s = story().executing(withGates).worked("abc1")
    s.tell({ _tag: "WorkspaceFailed", runId, phase: s.phase.id, operation: "RunQualityGates", reason: "disk full" })
    assert.deepStrictEqual([s.question.ask.origin, s.question.ask.step], ["workspace", "QUALITY_CHECK"])
    assert.deepStrictEqual(s.answer("fix").lines, ["StepResumed QUALITY_CHECK (answer)", "workspace RunQualityGates"])
  })
})
