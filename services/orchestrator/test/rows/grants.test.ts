/** What a human's answer grants once a limit is reached: as much again, and no more. */
import { assert, describe, it } from "@effect/vitest"
import { item, onePhase, runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

describe("a limit that an answer grants once more", () => {
  /** One retry is allowed and used up. */
  const exhausted = () =>
    story()
      .executing({ ...withGates, limits: { maxQualityRetries: 1 } })
      .worked("abc1")
      .gates(false)
      .worked()
      .gates(false)

  for (const choice of ["continue-session", "fix"]) {
    it(`gives the quality gates all their retries again after ${choice}`, () => {
      const s = exhausted().answer(choice).worked().gates(false)
      assert.deepStrictEqual(s.lines[0], "StepStarted QUALITY_RETRY (gates-failed)")
      assert.strictEqual(s.worked().gates(false).question.ask.origin, "quality")
    })
  }

  it("gives the quality gates all their retries again when auto mode continues the author's session", () => {
    const s = story()
      .executing({
        ...withGates,
        auto: true,
        continuation: { unattended: "continue" },
        limits: { maxQualityRetries: 1 }
      })
      .worked("abc1")
      .gates(false)
      .worked()
      .gates(false)
    assert.deepStrictEqual(s.lines[0], "StepStarted QUALITY_RETRY (auto-retry)")
    assert.deepStrictEqual(s.worked().gates(false).lines[0], "StepStarted QUALITY_RETRY (gates-failed)")
  })

  it("gives the quality gates all their retries again when the agent continues by itself", () => {
    const s = exhausted().agentWorks().agent("AgentIdle").worked().gates(false)
    assert.deepStrictEqual(s.lines[0], "StepStarted QUALITY_RETRY (gates-failed)")
  })

  it("gives the quality gates all their retries again when a waiting retry continues by itself", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 1 } })
      .worked("abc1")
      .gates(false)
      .needsHuman()
    s.agentWorks().agent("AgentIdle").worked().gates(false)
    assert.deepStrictEqual(s.lines[0], "StepStarted QUALITY_RETRY (gates-failed)")
  })

  it("gives as many tokens again as the budget, and tells the next turn what is left", () => {
    const s = story()
      .executing({ limits: { tokenBudget: 100 } })
      .worked("abc1")
    assert.strictEqual(s.answer("fix").run.pending._tag, "Review")
    assert.strictEqual(s.command("RequestReview").limits.maxTokens, 100)
    s.verdict("not_ready", item("R1"))
    assert.strictEqual(s.command("StartTurn").limits.maxTokens, 100)
    assert.match(s.worked("abc2").question.ask.reason, /used 220 tokens/)
    assert.strictEqual(s.answer("fix").run.pending._tag, "Review")
  })

  it("gives as much money again as the budget", () => {
    const s = story()
      .executing({ limits: { costBudget: 0.4 } })
      .worked("abc1")
    s.answer("fix").verdict("not_ready", item("R1"))
    assert.strictEqual(s.run.pending._tag, "Turn")
    assert.match(s.worked("abc2").question.ask.reason, /cost \$1\.00/)
  })

  it("gives two more steps than were entered, so that the step that was stopped can begin", () => {
    const s = story()
      .executing({ limits: { maxStepsPerRun: 1 } })
      .worked("abc1")
    s.answer("fix").verdict("not_ready", item("R1"))
    assert.strictEqual(s.run.pending._tag, "Turn")
    assert.match(s.worked("abc2").question.ask.reason, /has entered 3 steps/)
  })

  it("gives three more visits of a step whose limit of two was reached", () => {
    const s = story()
      .executing({ limits: { maxStepVisits: 2, maxReviewIterations: 50 } })
      .worked("abc1")
    const reviewAgain = () => s.tell({ ...s.verdictEvent({ readiness: "ready", items: [] }), commit: "abc9" })
    reviewAgain()
    assert.match(reviewAgain().question.ask.reason, /entered 2 times in this phase: its limit is 2/)
    s.answer("fix")
    for (const _ of [4, 5]) assert.strictEqual(reviewAgain().run.pending._tag, "Review")
    assert.match(reviewAgain().question.ask.reason, /entered 5 times in this phase: its limit is 2/)
  })

  it("gives two more fresh authors to a phase whose limit of one was reached", () => {
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    const s = story().executing({ limits: { maxContinuations: 1 } }, onePhase)
    const resolved = () => s.reports({ result: "checkpoint", checkpoint }).stateWritten().answer("pass")
    resolved().stateWritten().tasksVerified()
    assert.match(resolved().question.ask.reason, /handed to a fresh author 1 times: its limit is 1/)
    s.answer("fix").stateWritten().tasksVerified()
    resolved().stateWritten().tasksVerified()
    assert.match(resolved().question.ask.reason, /handed to a fresh author 3 times: its limit is 1/)
  })

  it("allows a stalled phase two more reviews without progress", () => {
    const s = story().executing().worked("abc1")
    for (const commit of ["abc2", "abc3"]) s.verdict("not_ready", item("R1")).worked(commit)
    s.verdict("not_ready", item("R1")).answer("continue-session").worked("abc4")
    assert.deepStrictEqual(s.verdict("not_ready", item("R1")).lines[0], "StepStarted AUTO_FIX (items-to-fix)")
    assert.match(s.worked("abc5").verdict("not_ready", item("R1")).question.ask.reason, /^2 reviews in a row/)
  })
})

describe("a budget", () => {
  it("is used up when it is reached exactly", () => {
    const reached = story()
      .executing({ limits: { tokenBudget: 110 } })
      .worked("abc1")
    assert.match(reached.question.ask.reason, /used 110 tokens: its budget is 110/)
    const spent = story()
      .executing({ limits: { costBudget: 0.5 } })
      .worked("abc1")
    assert.match(spent.question.ask.reason, /its budget is \$0\.5/)
  })

  it("is not used up as long as anything is left of it", () => {
    const limits = { tokenBudget: 111, costBudget: 0.51 }
    assert.strictEqual(story().executing({ limits }).worked("abc1").run.pending._tag, "Review")
  })
})

describe("a paused run that gets two inputs", () => {
  const twice = (s: Story) => {
    const [first, second] = [s.answerOf({ choice: "override" }), s.answerOf({ choice: "fix" })]
    return s.tell({ _tag: "PauseRun", runId, now: false }).tell(first).tell(second)
  }

  it("acts upon the first one when it is resumed", () => {
    const s = twice(story().executing().needsHuman())
    assert.deepStrictEqual(s.lines, [])
    s.tell({ _tag: "ResumeRun", runId })
    assert.include(s.lines, "PhaseCompleted 1 by override")
  })
})

describe("the resume point of a hand-over", () => {
  it("stays where the last hand-over put it until that task is done, also for later authors", () => {
    const checkpoint = {
      task: "P1.2",
      type: "decision",
      description: "Which?",
      options: [{ id: "a", label: "A" }]
    } as const
    const s = story().executing().reports({ result: "checkpoint", checkpoint }).stateWritten()
    s.answer("a").stateWritten().tasksVerified()
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, "P1.2")
    s.turnFails("runtime").answer("fix")
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, "P1.2")
    assert.include(s.stateWritten().tasksVerified().prompt, "Resume execution at Task 2 (P1.2).")
    s.reports({
      result: "needs_human",
      reason: "stuck",
      completedTasks: [{ id: "P1.2", commit: "abc1234", files: [] }]
    })
    assert.strictEqual(s.answer("fix").command("WriteContinuationState").resumeAt, "P1.1")
  })
})
