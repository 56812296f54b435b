import { assert, describe, it } from "@effect/vitest"
import type { CheckpointReport } from "@reprise/protocol"
import { at, decision, done, planWith, reached } from "./support/checkpoints.ts"
import { failedGate, item, onePhase, runId, withGates } from "./support/samples.ts"
import { story } from "./support/story.ts"

describe("CHECKPOINT", () => {
  const cases = [
    ["human-verify", ["pass", "fail"]],
    ["decision", ["red", "blue", "other"]],
    ["human-action", ["done", "cannot"]],
    ["architectural-change", ["approve", "other", "abort"]]
  ] as const
  for (const [type, choices] of cases) {
    it(`asks the human with the options of its type (${type})`, () => {
      const s = at({ ...decision, type })
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting CHECKPOINT"])
      assert.deepStrictEqual(s.choices, choices)
      const { evidence, origin, reason } = s.question.ask
      assert.deepStrictEqual([origin, reason, evidence.checkpoint?.task], ["checkpoint", "Red or blue?", "P1.2"])
    })
  }

  it("writes the record before anybody is asked", () => {
    const s = reached(decision)
    assert.deepStrictEqual(s.lines, [
      "StepStarted CHECKPOINT (checkpoint)",
      "CheckpointReached",
      "workspace WriteContinuationState"
    ])
    const { checkpoint, completedTasks, expected, resolution, resumeAt } = s.command("WriteContinuationState")
    assert.deepStrictEqual(
      [checkpoint?.task, completedTasks, expected, resolution, resumeAt],
      ["P1.2", done, undefined, undefined, "P1.2"]
    )
  })

  it("writes a lost, edited or broken record again, and says so", () => {
    const s = reached(decision).stateWritten("the.file", {
      replaced: { code: "truncated", detail: "it ends too early" }
    })
    assert.include(s.run.notices.join(), "the.file was refused (truncated: it ends too early)")
    assert.strictEqual(s.question.ask.origin, "checkpoint")
  })

  it("writes and verifies the record once it is resolved, and hands it to a fresh author", () => {
    const s = at(decision)
    const before = s.author
    s.answer("red", "but not\ntoo bright")
    assert.deepStrictEqual(s.lines, [
      "StepResumed CHECKPOINT (answer)",
      "CheckpointResolved",
      "workspace WriteContinuationState"
    ])
    const { checkpoint, completedTasks, expected, planId, resolution, resumeAt, slug } =
      s.command("WriteContinuationState")
    assert.deepStrictEqual(
      [checkpoint?.task, completedTasks, expected, planId, resolution, resumeAt, slug],
      ["P1.2", done, "d1", "plan", "red: All red. but not\ntoo bright", "P1.2", "first-things"]
    )
    assert.deepStrictEqual(s.stateWritten("the.file").lines, ["workspace VerifyContinuation"])
    assert.deepStrictEqual(s.command("VerifyContinuation").completedTasks, done)
    assert.deepStrictEqual(s.tasksVerified().lines, [
      "StepStarted EXECUTE (checkpoint-resolved)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.notStrictEqual(s.author, before)
    for (const text of [
      "the.file",
      "| P1.1 | Begin | abc1234 | a.ts | complete |",
      "| P1.2 | Go on | — | — | checkpoint |",
      "User chose Option red: All red. but not too bright",
      "but not\ntoo bright",
      "Re-execute Task 2 with the user's input."
    ]) {
      assert.include(s.prompt, text)
    }
  })

  it("continues with the next task after a passed human-verify, and repeats the task after a failed one", () => {
    const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    const passed = at(verify, {}, onePhase).answer("pass").stateWritten().tasksVerified()
    assert.strictEqual(passed.command("WriteContinuationState").resumeAt, "P1.3")
    assert.include(passed.prompt, "Skip Task 2 and continue from Task 3.")
    const failed = at(verify, {}, onePhase).answer("fail", "it is crooked")
    assert.strictEqual(failed.command("WriteContinuationState").resumeAt, "P1.2")
    assert.strictEqual(failed.command("WriteContinuationState").resolution, "failed: it is crooked")
  })

  it("skips a passed human-verify task that the plan does not list", () => {
    const verify: CheckpointReport = { task: "X9", type: "human-verify", description: "Look" }
    const passed = at(verify, {}, onePhase).answer("pass").stateWritten().tasksVerified()
    assert.strictEqual(passed.command("WriteContinuationState").resumeAt, "P1.2")
    assert.include(passed.prompt, "Skip Task X9 and continue from Task 2.")
    const failed = at(verify, {}, onePhase).answer("fail").stateWritten().tasksVerified()
    assert.strictEqual(failed.command("WriteContinuationState").resumeAt, "X9")
    assert.include(failed.prompt, "Re-execute Task X9 with the user's input.")
  })

  it("refers to the plan's text after a human-verify in a phase without items", () => {
    const verify: CheckpointReport = { task: "Draft", type: "human-verify", description: "Look" }
    const s = at(verify, {}, "# Plan\n\n## Phase 1: In words\n\nDo it well.\n").answer("pass").stateWritten()
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, undefined)
    assert.include(s.tasksVerified().prompt, "Skip Task Draft, which is done. Go on with what is left of this phase")
    assert.include(s.prompt, "(none are listed: read the phase's text in the plan)")
  })

  it("shows the human the task's own commit at human-verify", () => {
    const checkpoint: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    const s = story().executing({}, onePhase).reports({ result: "checkpoint", commit: "bcd2345", checkpoint })
    assert.strictEqual(s.stateWritten().question.ask.evidence.commit, "bcd2345")
  })

  it("counts the task of a human-verify as done by the author's commit, even if it is not listed", () => {
    const s = story().executing({}, onePhase)
    const checkpoint: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    s.reports({ result: "checkpoint", commit: "BCD2345", checkpoint, completedTasks: done })
    assert.deepStrictEqual(s.phase.completedTasks, [...done, { id: "P1.2", commit: "bcd2345", files: [] }])
  })

  it("sends every later author to a failed human-verify task until a new commit is reported for it", () => {
    const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    const s = story().executing({}, onePhase)
    s.reports({ result: "checkpoint", commit: "bcd2345", checkpoint: verify, completedTasks: done })
    s.stateWritten().answer("fail", "it is crooked").stateWritten().tasksVerified()
    s.turnFails("runtime").answer("fix")
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, "P1.2")
    assert.include(s.stateWritten().tasksVerified().prompt, "Re-execute Task 2 with the user's input.")
    const straight = [{ id: "P1.2", commit: "cde3456", files: [] }]
    s.reports({ result: "needs_human", reason: "stuck", completedTasks: straight }).answer("fix")
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, "P1.3")
  })

  it("continues with the fix, not with a task of the plan, after a human-verify that passed in QUALITY_RETRY", () => {
    const s = story().executing(withGates, onePhase).completes("abc1234").commitVerified()
    const { attempt } = s.command("RunQualityGates")
    s.tell({ _tag: "QualityFailed", runId, phase: s.phase.id, attempt, results: [failedGate] })
    const verify: CheckpointReport = { task: "P1.1", type: "human-verify", description: "Look" }
    s.reports({ result: "checkpoint", checkpoint: verify }).stateWritten().answer("pass").stateWritten()
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, undefined)
    assert.include(s.tasksVerified().prompt, "last words")
    assert.notInclude(s.prompt, "Resume execution at")
  })

  it("aborts the run where abort is one of the options", () => {
    assert.strictEqual(at({ ...decision, type: "architectural-change" }).answer("abort").run.status, "aborted")
  })

  it("never takes a decision's own option for an abort of the run, even if it is called abort", () => {
    const s = at({ ...decision, options: [{ id: "abort", label: "Drop the feature" }] }).answer("abort")
    assert.strictEqual(s.command("WriteContinuationState").resolution, "abort: Drop the feature")
  })

  it("adds no second option called other to a decision", () => {
    const s = at({ ...decision, options: [{ id: "other", label: "None of these" }] })
    assert.deepStrictEqual(s.choices, ["other"])
  })

  const optionIds = [
    ["", "has no id"],
    ["red\nblue", "none of a single line"],
    [" red", "none of a single line"],
    ["blue", "two options of the decision have the id 'blue'"]
  ] as const
  for (const [id, problem] of optionIds) {
    it(`asks the author to correct a decision with an option '${id}' that nobody can choose`, () => {
      const checkpoint = { ...decision, options: [...(decision.options ?? []), { id, label: "Third" }] }
      const s = story().executing().reports({ result: "checkpoint", checkpoint })
      assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
      assert.include(s.prompt, problem)
    })
  }

  it("names the task in the question when the checkpoint has no description", () => {
    assert.strictEqual(at({ ...decision, description: " " }).question.ask.reason, "Task P1.2 is a checkpoint.")
  })

  it("asks the human in auto mode when the author reports another type than the plan", () => {
    const plan = planWith("human-action")
    const s = at(decision, { auto: true }, plan)
    assert.strictEqual(s.run.status, "waiting")
    assert.include(s.run.notices.join(), "P1.2 is human-action in the plan, but its author reported decision.")
    const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    assert.strictEqual(at(verify, { auto: true, gates: { verify: ["true"] } }, plan).run.status, "waiting")
    assert.strictEqual(at({ ...decision, task: "X9" }, { auto: true }, plan).run.status, "running")
  })

  it("takes the recommended option of a decision in auto mode, and records it", () => {
    const s = at(decision, { auto: true })
    assert.deepStrictEqual(s.lines, ["CheckpointResolved", "workspace WriteContinuationState"])
    assert.strictEqual(s.command("WriteContinuationState").resolution, "blue: All blue")
    assert.include(s.run.notices.join(), "recommended option 'blue'")
  })

  for (const type of ["human-action", "architectural-change", "human-verify"] as const) {
    it(`waits for a human in auto mode (${type})`, () => {
      assert.strictEqual(at({ ...decision, type }, { auto: true }).run.status, "waiting")
    })
  }

  it("asks a human when maxContinuations is reached, and hands over once more on fix", () => {
    const s = at(decision, { limits: { maxContinuations: 0 } }).answer("red")
    assert.deepStrictEqual(s.lines.slice(-2), ["gate RaiseEscalation", "StepWaiting CHECKPOINT"])
    assert.strictEqual(s.question.ask.origin, "limit")
    s.answer("fix").stateWritten().tasksVerified()
    assert.include(s.prompt, "User chose Option red")
  })

  it("asks for the grant again after the gate has refused that question", () => {
    const s = at(decision, { limits: { maxContinuations: 0 } }).answer("red")
    s.tell({ _tag: "CommandRefused", runId, command: "RaiseEscalation", reason: "no" }).tell({
      _tag: "ResumeRun",
      runId
    })
    assert.strictEqual(s.question.retry.limit, "continuations")
    s.answer("fix").stateWritten().tasksVerified()
    assert.strictEqual(s.phase.continuations, 1)
  })

  it("returns to the step that reached the checkpoint when another hand-over is granted", () => {
    const s = story()
      .executing({ limits: { maxContinuations: 0 } }, onePhase)
      .worked("abc1234")
      .verdict("not_ready", item("R1"))
    s.reports({ result: "checkpoint", checkpoint: { ...decision, task: "X9" } })
      .stateWritten()
      .answer("red")
    assert.strictEqual(s.question.retry.step, "AUTO_FIX")
  })

  it("keeps how it was answered before when the same task stops there again", () => {
    const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
    const s = at(verify, {}, onePhase).answer("fail", "it is crooked").stateWritten().tasksVerified()
    s.reports({ result: "checkpoint", checkpoint: verify, commit: "cde3456" })
    assert.deepStrictEqual(
      s.phase.checkpoints.map(({ resolution }) => resolution),
      ["failed: it is crooked", undefined]
    )
  })

  it("verifies the tasks of both authors at a second checkpoint", () => {
    const s = at({ ...decision, task: "P1.1" }, {}, onePhase)
      .answer("red")
      .stateWritten()
      .tasksVerified()
    s.reports({
      result: "checkpoint",
      completedTasks: [{ id: "P1.2", commit: "def5678", files: [] }],
      checkpoint: { task: "P1.3", type: "human-action", description: "Push" }
    }).stateWritten()
    s.answer("done").stateWritten()
    assert.deepStrictEqual(
      s.command("VerifyContinuation").completedTasks.map((task) => task.id),
      ["P1.1", "P1.2"]
    )
  })
})

describe("what a human answers at checkpoints", () => {
  const done = (id: string, commit: string) => ({ id, commit, files: [] })
  const action = { task: "P1.2", type: "human-action", description: "Register the app" } as const

  /** A decision at P1.1, done by a second author, who stops at P1.2 for a human's action. */
  const answered = () => {
    const s = at({ ...decision, task: "P1.1" }, {}, onePhase)
      .answer("red", "Crimson,\nnot scarlet")
      .stateWritten()
      .tasksVerified()
    assert.include(s.prompt, "additional guidance:\n> At the checkpoint of P1.1 (red):\nCrimson,\nnot scarlet")
    s.reports({ result: "checkpoint", completedTasks: [done("P1.1", "def5678")], checkpoint: action }).stateWritten()
    return s.answer("done", "As app 42")
  }

  it("reaches every fresh author of the phase after it, in the record or word for word, and the reviewer", () => {
    const s = answered().stateWritten().tasksVerified()
    assert.strictEqual(s.prompt.split("As app 42").length, 2)
    assert.include(s.prompt, "User confirms action completed: As app 42")
    assert.isTrue(s.prompt.endsWith("additional guidance:\n> At the checkpoint of P1.1 (red):\nCrimson,\nnot scarlet"))
    assert.notInclude(s.prompt, "User chose")
    s.worked("fff9999")
    assert.deepStrictEqual(
      s.command("RequestReview").words.map(({ text }) => text),
      ["> At the checkpoint of P1.1 (red):\nCrimson,\nnot scarlet", "> At the checkpoint of P1.2 (done):\nAs app 42"]
    )
  })

  it("is repeated, word for word, to the author who redoes the task because its work is lost", () => {
    const s = answered().stateWritten()
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits: ["def5678"], missingFiles: [] })
    s.answer("redo").stateWritten().tasksVerified()
    assert.include(s.prompt, "User confirms action completed: As app 42")
    assert.match(s.prompt, /For Task 1: User chose Option red: .*Crimson, not scarlet/)
    assert.include(s.prompt, "additional guidance:\n> At the checkpoint of P1.1 (red):\nCrimson,\nnot scarlet")
  })
})

describe("the decisions of a run", () => {
  const decided = () => {
    const s = at(decision).answer("red", "but not\ntoo bright").stateWritten().tasksVerified()
    return s.phaseApproved("def5678")
  }
  const line =
    '- Phase 1, P1.2 (decision): "Red or blue?" → "red: All red". "but not too bright" (anna, 2026-01-01 00:00 UTC)'

  it("are read by the first author and the reviewer of every later phase", () => {
    const s = decided()
    assert.strictEqual(s.phase.id, "2")
    assert.include(s.prompt.replace(/\d\d:\d\d UTC/, "00:00 UTC"), `The answers hold:\n> ${line}`)
    assert.notInclude(s.prompt, "additional guidance")
    const { decisions, words } = s.worked("fff0000").command("RequestReview")
    assert.deepStrictEqual(
      [decisions.map(({ text }) => text.replace(/\d\d:\d\d UTC/, "00:00 UTC")), words],
      [[line], []]
    )
  })

  it("are read by every later author of their own phase, which has the words once", () => {
    const s = at({ ...decision, task: "P1.1" }, {}, onePhase)
      .answer("red", "but not bright")
      .stateWritten()
    s.tasksVerified().needsHuman().answer("fix").stateWritten().tasksVerified()
    assert.include(s.prompt, 'P1.1 (decision): "Red or blue?" → "red: All red". (anna')
    assert.strictEqual(s.prompt.split("but not bright").length, 2)
  })

  it("are kept without words, too, and with auto mode where that has decided", () => {
    const s = at(decision, { auto: true }).stateWritten().tasksVerified().worked("def5678")
    assert.match(
      s.command("RequestReview").decisions[0]?.text ?? "",
      /→ "blue: All blue"\. \(the author's own recommendation, taken by auto mode: no answer of a person, 2026-/
    )
    assert.deepStrictEqual(s.command("RequestReview").words, [])
  })

  it("name what a human settled in the author's own session", () => {
    const s = at(decision).agentWorks().agent("AgentIdle").worked("def5678")
    assert.match(
      s.command("RequestReview").decisions[0]?.text ?? "",
      /→ "resolved in the author's own session"\. \(a human/
    )
  })
})
