import { assert, describe, it } from "@effect/vitest"
import { sessionIdOf } from "@reprise/protocol"
import { decision, done } from "../support/checkpoints.ts"
import { row } from "../support/row.ts"
import { runId } from "../support/samples.ts"
import { story } from "../support/story.ts"

describe("an author that is told what is wrong", () => {
  it("is not told a second time that its report breaks a rule, though its commit was rejected in between", () => {
    const s = story().executing().completes("zz").completes("abc1").commitRejected()
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    assert.strictEqual(s.completes("zz").question.ask.origin, "author")
  })

  it("is not told a second time that its commit was rejected, though its report broke a rule in between", () => {
    const s = story().executing().completes("abc1").commitRejected().completes("zz").completes("abc2")
    assert.strictEqual(s.commitRejected().question.ask.origin, "commit")
  })

  it("is told once more that its commit was rejected when it has worked on by itself in between", () => {
    const s = story().executing().completes("abc1").commitRejected().completes("abc2").commitRejected()
    s.agentWorks().agent("AgentIdle").completes("abc3")
    assert.deepStrictEqual(s.commitRejected().lines, ["session-manager StartTurn"])
    assert.strictEqual(s.completes("abc4").commitRejected().question.ask.origin, "commit")
  })

  it("may use one token at least, even when the budget is used up", () => {
    const s = story()
      .executing({ limits: { tokenBudget: 50 } })
      .completes("zz")
    assert.strictEqual(s.command("StartTurn").limits.maxTokens, 1)
  })

  it("has all of its notes passed to the reviewer", () => {
    const s = story().executing().completes("abc1", { notes: "First note." }).commitRejected()
    s.completes("abc2", { notes: "Second note." }).commitVerified()
    const said = s.command("RequestReview").words.map(({ from, text }) => `${from}: ${text}`)
    assert.deepStrictEqual(said, ["author: First note.", "author: Second note."])
  })
})

describe("what verification finds in the commits of an author", () => {
  it("reaches the reviewer of the phase, each once, also of a commit whose gates failed", () => {
    const s = story().executing({ gates: { quality: ["npm test"] } })
    s.completes("abc1").commitVerified("A submodule moved.", "A branch moved.").gates(false)
    s.completes("abc2").commitVerified("A submodule moved.", "A merge left a file out.").gates(true)
    assert.deepStrictEqual(s.command("RequestReview").remarks, [
      "A submodule moved.",
      "A branch moved.",
      "A merge left a file out."
    ])
  })
})

describe("the session of an author", () => {
  const context = { tokens: 900, limit: 1000 }

  it("has ended when it expired during the turn, although its report still arrives", () => {
    assert.strictEqual(story().executing().agent("SessionExpired").completes("abc1").phase.author?.state, "ended")
  })

  it("ends once: the report that it was aborted as asked is not recorded", () => {
    const s = story().executing().turnFails("timeout", true)
    row(s, { _tag: "SessionAborted", runId, sessionId: s.author, reason: "its turn timed out" }).then([])
  })

  it("that has ended is not aborted with the run, though a later author has replaced it", () => {
    const s = story().executing()
    const earlier = s.author
    s.needsHuman().answer("fix").agent("SessionExpired", earlier)
    const { lines } = row(s, { _tag: "AbortRun", runId, reason: "enough" })
    assert.deepStrictEqual(lines, ["RunAborted", "session-manager AbortSession", "workspace ReleaseWorkspace"])
  })

  it("has ended when the runtime does not know it any more", () => {
    assert.strictEqual(story().executing().turnFails("session-missing").phase.author?.state, "ended")
  })

  it("keeps the size of its context until another one is measured or it is replaced", () => {
    const s = story().executing()
    s.tell(s.turnReport({ result: "complete", commit: "zz" }))
    s.tell(s.turnReport({ result: "complete", commit: "abc1" }, { context }))
    s.commitRejected().completes("abc2")
    const replaced = { _tag: "SessionReplaced", runId, old: "a", new: "b", reason: "lost" } as const
    s.tell({ ...replaced, sessionId: sessionIdOf(runId, 9) })
    assert.deepStrictEqual(s.phase.author?.context, context)
    s.tell({ ...replaced, sessionId: s.author })
    assert.isUndefined(s.phase.author?.context)
  })

  it("is offered for continue after the turn limit", () => {
    assert.include(story().executing().turnFails("turn-limit", true).choices, "continue-session")
  })

  it("is aborted after a timeout only where the session-manager has not done so", () => {
    assert.include(story().executing().turnFails("timeout", true).lines, "session-manager AbortSession")
    const s = story().executing().turnFails("timeout", false)
    assert.notInclude(s.lines, "session-manager AbortSession")
    assert.isUndefined(s.question.watch)
  })

  it("counts as a failed continuation only when the continued turn has failed", () => {
    const continued = () => story().executing().needsHuman().answer("continue-session")
    assert.strictEqual(continued().completes("abc1").phase.failedContinuations, 0)
    assert.strictEqual(continued().reports({ result: "failed", reason: "no" }).phase.failedContinuations, 1)
  })

  it("that a human chose is not replaced without asking, although completed tasks are recorded", () => {
    const s = story().executing().reports({ result: "needs_human", reason: "Which?", completedTasks: done })
    assert.strictEqual(s.answer("continue-session").turnFails("session-missing").question.ask.origin, "runtime")
  })

  it("is named with the choice of the human who continues it", () => {
    const s = story().executing().needsHuman().answer("continue-session")
    const started = s.journal.findLast((event) => event._tag === "StepStarted")
    assert.deepInclude(started?._tag === "StepStarted" ? started.session : undefined, {
      choice: "continue",
      why: "a human chose to continue the author's session"
    })
  })
})

describe("the report of an author", () => {
  it("names commits in lower case, however they were written", () => {
    const tasks = [{ id: "P1.1", commit: " ABC1234 ", files: [] }]
    assert.strictEqual(
      story().executing().completes("abc1", { completedTasks: tasks }).phase.completedTasks[0]?.commit,
      "abc1234"
    )
  })

  it("may name a task with 256 characters, as the record can hold, and no more", () => {
    const completed = (length: number) =>
      story()
        .executing()
        .completes("abc1", { completedTasks: [{ id: "T".repeat(length), commit: "abc1", files: [] }] })
    assert.deepStrictEqual(completed(256).lines, ["workspace VerifyCommit"])
    assert.deepStrictEqual(completed(257).lines, ["session-manager StartTurn"])
  })

  it("may name its commit with the first four digits of the hash", () => {
    const s = story().executing().completes("abc1")
    const verified = row(s, { _tag: "CommitVerified", runId, phase: "1", commit: "abc1234ff" })
    assert.deepStrictEqual(verified.lines, ["StepStarted REVIEW (work-verified)", "reviewer RequestReview"])
  })

  it("is corrected when an option of its decision has blanks around its id", () => {
    const checkpoint = { ...decision, options: [{ id: " red", label: "All red" }] }
    assert.deepStrictEqual(story().executing().reports({ result: "checkpoint", checkpoint }).lines, [
      "session-manager StartTurn"
    ])
  })

  it("belongs to the continued turn also when it has to be corrected", () => {
    const s = story().executing().needsHuman().answer("continue-session").completes("zz")
    assert.isTrue(s.pending("Turn").continued)
  })

  it("is missing when somebody aborted the turn: a human is asked", () => {
    assert.strictEqual(story().executing().turnFails("aborted").question.ask.origin, "runtime")
  })
})
