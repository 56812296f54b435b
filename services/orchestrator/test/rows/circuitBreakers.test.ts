import { assert, describe, it } from "@effect/vitest"
import { noTokens, noUsage, SessionId, TurnId } from "@reprise/protocol"
import type { InputOf } from "../../src/run/inputs.ts"
import { item, type OptionsInput, onePhase, runId } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

/** The end of the reviewer's turn, which only its use concerns. */
const reviewersTurn = (s: Story): InputOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  runId,
  phase: s.phase.id,
  role: "reviewer",
  sessionId: SessionId.make(`${runId}-p1-s1`),
  turnId: TurnId.make(`${runId}-p1-t1`),
  kind: "turn-limit",
  message: "too much",
  sessionUsable: true,
  ...noUsage,
  duration: 1,
  attempts: 1
})

describe("circuit breakers", () => {
  it("ask a human when maxStepVisits is reached, and grant visits again on an answer", () => {
    const s = story()
      .executing({ limits: { maxStepVisits: 1 } })
      .worked("abc1")
    s.verdict("not_ready", item("R1"), item("R2")).worked("abc2")
    assert.strictEqual(s.question.ask.origin, "limit")
    assert.match(s.question.ask.reason, /REVIEW was entered 1 times/)
    s.answer("fix").verdict("not_ready", item("R1"))
    assert.match(s.question.ask.reason, /AUTO_FIX was entered 1 times/)
    assert.strictEqual(s.answer("continue-session", "go").run.pending._tag, "Turn")
    assert.include(s.prompt, "go")
  })

  it("do not count the visits that a human chose: continue, fix, resume and the answer at a checkpoint", () => {
    const s = story().executing({ limits: { maxStepVisits: 2 } }, onePhase)
    for (const choice of ["continue-session", "fix", "continue-session", "fix"]) s.needsHuman().answer(choice)
    for (const _ of [1, 2, 3]) {
      s.tell({ _tag: "PauseRun", runId, now: true }).turnInterrupted().tell({ _tag: "ResumeRun", runId })
    }
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    for (const _ of [1, 2]) {
      s.reports({ result: "checkpoint", checkpoint }).stateWritten().answer("pass").stateWritten().tasksVerified()
    }
    assert.deepStrictEqual([s.run.step, s.run.pending._tag], ["EXECUTE", "Turn"])
    assert.strictEqual((s.phase.visits.EXECUTE ?? 0) - (s.phase.visitsGranted.EXECUTE ?? 0), 1)
  })

  it("ask a human when maxStepsPerRun is reached", () => {
    const s = story()
      .executing({ limits: { maxStepsPerRun: 1 } })
      .worked("abc1")
    assert.match(s.question.ask.reason, /has entered 1 steps: its limit is 1/)
    assert.strictEqual(s.answer("fix").run.pending._tag, "Review")
  })

  it("ask a human before the next agent is called when the token or cost budget is used up", () => {
    const tokens = story()
      .executing({ limits: { tokenBudget: 100 } })
      .worked("abc1")
    assert.match(tokens.question.ask.reason, /used 110 tokens: its budget is 100/)
    const cost = story()
      .executing({ limits: { costBudget: 0.5 } })
      .worked("abc1")
    assert.strictEqual(cost.question.ask.origin, "limit")
    assert.strictEqual(cost.answer("fix").run.pending._tag, "Review")
  })

  it("pass what is left of the budgets and the limits that are on to each turn", () => {
    const limits = { maxAgentTurns: 9, tokenBudget: 1000, costBudget: 2, turnInactivityMs: 0, turnWallMs: 7 }
    const s = story().executing({ limits: { ...limits, maxTurnCalls: 0, maxTurnTokens: 0 } })
    assert.deepStrictEqual(s.command("StartTurn").limits, { wallMs: 7, maxAgentTurns: 9, maxTokens: 1000, maxCost: 2 })
    s.needsHuman().answer("fix")
    assert.deepInclude(s.command("StartTurn").limits, { maxTokens: 890, maxCost: 1.5 })
  })

  it("give a turn in auto mode, which can ask nobody, a wait of its own for the model's vendor", () => {
    const waitWith = (options: OptionsInput) => story().executing(options).command("StartTurn").limits.maxWaitMs
    assert.isUndefined(waitWith({}))
    assert.strictEqual(waitWith({ auto: true }), 24 * 60 * 60_000)
    assert.strictEqual(waitWith({ auto: true, limits: { unattendedWaitMs: 5 } }), 5)
    assert.isUndefined(waitWith({ auto: true, limits: { unattendedWaitMs: 0 } }))
  })

  it("guard each turn against calls without end, unless they are switched off", () => {
    const s = story().executing()
    assert.deepInclude(s.command("StartTurn").limits, { maxCalls: 1000, maxTurnTokens: 50_000_000 })
    s.turnFails("turn-limit", true)
    assert.deepInclude(s.question.ask, { origin: "runtime" })
    assert.match(s.question.ask.reason, /turn-limit/)
  })

  it("ask the question of a budget that a turn used up before it ended", () => {
    const s = story().executing({ limits: { costBudget: 0.4 } })
    s.tell({ ...s.turnFailure("turn-limit", true), cost: 0.5 })
    assert.deepInclude(s.question.ask, { origin: "limit", reason: "The run has cost $0.50: its budget is $0.4." })
    assert.strictEqual(s.answer("fix").run.pending._tag, "Turn")
    assert.approximately(s.command("StartTurn").limits.maxCost ?? 0, 0.4, 1e-9)
  })

  it("give a continued turn what is left of the budget that was granted again", () => {
    const s = story().executing({ limits: { tokenBudget: 120 } })
    s.needsHuman().answer("c")
    assert.strictEqual(s.command("ContinueSession").limits?.maxTokens, 10)
    s.tell({ ...s.turnFailure("turn-limit", true), tokens: { ...noTokens, input: 20 } })
    assert.strictEqual(s.question.ask.origin, "limit")
    s.answer("fix")
    assert.strictEqual(s.command("StartTurn").limits.maxTokens, 120)
  })

  it("ask one question about a budget that a review used up", () => {
    const s = story()
      .executing({ limits: { tokenBudget: 200 } })
      .worked("abc1")
    s.tell({ ...reviewersTurn(s), tokens: { ...noTokens, input: 500 } }).reviewBreaks("turn-limit")
    assert.match(s.question.ask.reason, /The run has used 610 tokens: its budget is 200/)
    assert.strictEqual(s.answer("fix").run.pending._tag, "Review")
  })

  it("put every limit that was reached into the notices", () => {
    const s = story()
      .executing({ limits: { maxStepsPerRun: 1 } })
      .worked("abc1")
      .answer("fix")
    assert.deepStrictEqual(s.run.notices, [
      "The run has entered 1 steps: its limit is 1.",
      "The limit 'run-steps' of REVIEW was granted again."
    ])
  })
})
