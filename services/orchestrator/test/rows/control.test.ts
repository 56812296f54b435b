import { assert, describe, it } from "@effect/vitest"
import { noUsage, SessionId } from "@reprise/protocol"
import { row } from "../support/row.ts"
import { runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const pause = { _tag: "PauseRun", runId, now: false } as const
const pauseNow = { _tag: "PauseRun", runId, now: true } as const
const resume = { _tag: "ResumeRun", runId } as const
const abort = { _tag: "AbortRun", runId, reason: "enough" } as const

describe("a pause while an agent that works by itself asks something", () => {
  const asking = () => story().executing().needsHuman().agentWorks().agentPrompts("p1").tell(pause)

  it("stays a pause when the agent is idle, and goes on from its report when it is resumed", () => {
    const s = asking().agent("AgentIdle")
    assert.deepStrictEqual([s.run.status, s.lines], ["paused", ["gate WithdrawEscalation"]])
    assert.deepStrictEqual(s.tell(resume).pending("Turn").purpose, "report")
  })

  it("goes on from the report also when the question was answered before the agent was idle, and keeps the words", () => {
    const s = asking()
    s.tell(s.answerOf({ choice: "reject", guidance: "Use npm." }))
      .agent("AgentIdle")
      .tell(resume)
    assert.strictEqual(s.pending("Turn").purpose, "report")
    assert.include(s.prompt, "Use npm.")
  })
})

describe("any, PauseRun", () => {
  it("pauses after the turn under way has finished", () => {
    const s = story().executing().tell(pause)
    assert.deepStrictEqual([s.run.status, s.lines.length], ["running", 0])
    s.completes("abc1234")
    assert.deepStrictEqual(s.lines, ["RunPaused"])
    assert.deepInclude(s.run, { status: "paused", pauseAsked: false })
    assert.strictEqual(s.run.usage.author.turns, 1)
  })

  it("continues from the report of that turn when it is resumed", () => {
    const s = story().executing().tell(pause).completes("abc1234").tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", "workspace VerifyCommit"])
    assert.strictEqual(s.run.status, "running")
  })

  const goesOn = ["StepStarted EXECUTE (resumed)", "session-manager StartTurn"]
  const continued = "Continue the current session and complete all remaining tasks."

  it("interrupts the turn with --now, and goes on in its session when it is resumed", () => {
    const s = story().executing().tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["session-manager InterruptTurn", "RunPaused"])
    assert.deepStrictEqual(s.turnInterrupted().tell(resume).lines, ["RunResumed", ...goesOn])
    const { onMissing, prompt, session } = s.command("StartTurn")
    assert.deepStrictEqual(
      [session, onMissing, prompt],
      [{ _tag: "Existing", sessionId: s.author }, "fresh", continued]
    )
    assert.deepStrictEqual([s.phase.author?.state, s.phase.failedContinuations], ["usable", 0])
  })

  it("goes on once the interrupted turn has reported, when it was resumed before that", () => {
    const s = story().executing().tell(pauseNow).tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed"])
    assert.deepStrictEqual(s.turnInterrupted().lines, goesOn)
  })

  it("interrupts a turn twice, and goes on in the same session each time", () => {
    const s = story().executing().tell(pauseNow).tell(resume).turnInterrupted()
    s.tell(pauseNow).tell(resume).turnInterrupted()
    assert.deepStrictEqual(s.command("StartTurn").session, { _tag: "Existing", sessionId: s.author })
  })

  it("gives the task again when the turn was interrupted before its agent had read it", () => {
    const s = story().executing(withGates).worked("abc1").gates(false).tell(pauseNow)
    s.turnInterrupted(false).tell(resume)
    assert.include(s.prompt, "these quality gates fail")
    assert.deepStrictEqual(s.command("StartTurn").session, { _tag: "Existing", sessionId: s.author })
  })

  it("begins the step again in a new session when the session has ended during the pause", () => {
    const s = story().executing().tell(pauseNow).turnInterrupted().agent("SessionExpired").tell(resume)
    assert.strictEqual(s.command("StartTurn").session._tag, "New")
    assert.include(s.prompt, "P1.1: Begin")
  })

  it("begins the step again in a new session when the interrupted turn left no usable one", () => {
    const s = story().executing().tell(pauseNow).turnFails("aborted").tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", "StepStarted EXECUTE (resumed)", "session-manager StartTurn"])
    assert.strictEqual(s.command("StartTurn").session._tag, "New")
  })

  it("takes the report of a turn that ended before it could be interrupted", () => {
    const s = story().executing().tell(pauseNow).completes("abc1234").tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", "workspace VerifyCommit"])
  })

  const reviewsOn = ["StepStarted REVIEW (resumed)", "reviewer RequestReview"]
  const startedReview = (s: Story) =>
    s.journal.findLast((event) => event._tag === "StepStarted") as { readonly session?: { readonly choice: string } }

  it("interrupts a review with --now and keeps its session, and asks for it again when it is resumed", () => {
    const s = story().executing().worked("abc1").tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["reviewer InterruptReview", "RunPaused"])
    assert.deepStrictEqual(s.reviewInterrupted().tell(resume).lines, ["RunResumed", ...reviewsOn])
    assert.strictEqual(startedReview(s).session?.choice, "continue")
    assert.deepStrictEqual([s.phase.brokenReviews, s.run.notices], [0, []])
    assert.strictEqual(s.reviewBreaks().run.pending._tag, "Review", "one failure is still tried again by itself")
  })

  it("asks for the review again once the interrupted one has ended, when it was resumed before that", () => {
    const s = story().executing().worked("abc1").tell(pauseNow).tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed"])
    assert.deepStrictEqual(s.reviewInterrupted().lines, reviewsOn)
  })

  it("begins the review in a new session when the interrupted one left none in order", () => {
    const s = story().executing().worked("abc1").tell(pauseNow).reviewInterrupted(false).tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", ...reviewsOn])
    assert.isUndefined(startedReview(s).session)
  })

  it("takes the verdict of a review that ended before it could be interrupted", () => {
    const s = story().executing().worked("abc1").tell(pauseNow).verdict("ready").tell(resume)
    assert.include(s.lines, "workspace FinishPhase")
  })

  it("aborts the interrupted review with the run", () => {
    const s = story().executing().worked("abc1").tell(pauseNow).reviewInterrupted().tell(abort)
    assert.include(s.lines, "reviewer CloseReview")
  })

  it("withdraws what the reviewer asked in the interrupted review, and hears no more of it", () => {
    const s = story().executing().worked("abc1")
    const reviewer = SessionId.make(`${runId}-p1-s1`)
    s.agentPrompts("p1", "permission", reviewer).tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "reviewer InterruptReview", "RunPaused"])
    assert.deepStrictEqual(s.agentPrompts("p2", "permission", reviewer).lines, [])
  })

  it("leaves the quality gates with --now to their end, and goes on from their result when it is resumed", () => {
    const s = story().executing(withGates).worked("abc1").tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["RunPaused"])
    assert.deepStrictEqual(s.gates(true).tell(resume).lines, [
      "RunResumed",
      "StepStarted REVIEW (gates-passed)",
      "reviewer RequestReview"
    ])
  })

  it("keeps with --now what an agent asks that works by itself, and its answer", () => {
    const s = story().executing().needsHuman().agentWorks().agentPrompts("p1").tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["RunPaused"])
    s.answer("once").tell(resume)
    assert.include(s.lines, "session-manager ReplyToPrompt")
  })

  it("withdraws the question of an agent that prompts with --now", () => {
    const s = story().executing().agentPrompts("p1").tell(pauseNow)
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "session-manager InterruptTurn", "RunPaused"])
  })

  it("pauses at once while it waits for a human, and keeps the answer to the open question", () => {
    const s = story().executing().needsHuman().tell(pause)
    assert.deepStrictEqual(s.lines, ["RunPaused"])
    s.answer("fix", "so")
    assert.deepStrictEqual(s.lines, [])
    s.tell(resume)
    assert.deepStrictEqual(s.lines, [
      "RunResumed",
      "StepResumed EXECUTE (answer)",
      "StepStarted EXECUTE (fix)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.include(s.prompt, "so")
  })

  it("waits again when it is resumed without an answer", () => {
    assert.strictEqual(story().executing().needsHuman().tell(pause).tell(resume).run.status, "waiting")
  })

  it("asks the question again, once it is resumed, that somebody withdrew during the pause", () => {
    const s = story().executing().needsHuman().tell(pause)
    const { escalationId } = s.question.ask
    s.tell({ _tag: "EscalationWithdrawn", runId, escalationId, reason: "superseded" })
    assert.deepStrictEqual(s.lines, [])
    s.tell(resume)
    assert.notStrictEqual(s.question.ask.escalationId, escalationId)
    assert.include(s.lines, "gate RaiseEscalation")
  })

  it("asks nothing again about a session in which a human began to work during the pause", () => {
    const s = story().executing().needsHuman().tell(pause).answer("nonsense").agentWorks().tell(resume)
    assert.deepStrictEqual([s.run.pending._tag, s.run.status], ["Agent", "running"])
  })

  it("withdraws its question when the agent works during the pause, and asks for the report once it is resumed", () => {
    const s = story().executing().needsHuman().tell(pause).agentWorks()
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation"])
    assert.strictEqual(s.run.status, "paused")
    assert.deepStrictEqual(s.agent("AgentIdle").lines, [])
    assert.deepStrictEqual(s.tell(resume).lines, [
      "RunResumed",
      "StepResumed EXECUTE (agent-working)",
      "session-manager StartTurn"
    ])
    assert.strictEqual(s.command("StartTurn").reason, "report")
  })

  it("waits for the agent that still works when it is resumed, and asks a human if that was gone meanwhile", () => {
    const s = story().executing().needsHuman().tell(pause).agentWorks().tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", "StepResumed EXECUTE (agent-working)"])
    assert.strictEqual(s.agent("AgentIdle").lines.at(-1), "session-manager StartTurn")
    const gone = story().executing().needsHuman().tell(pause).agentWorks().agent("AgentGone").tell(resume)
    assert.strictEqual(gone.lines.at(-1), "StepWaiting EXECUTE")
  })

  it("asks what the agent asks that went on during the pause, once it is resumed", () => {
    const s = story().executing().needsHuman().tell(pause).agentWorks().agentPrompts("p1")
    assert.deepStrictEqual(s.lines, [])
    s.tell(resume)
    assert.strictEqual(s.question.prompt?.promptId, "p1")
  })

  it("keeps the answer that came before the agent worked", () => {
    const s = story().executing().needsHuman().tell(pause).answer("fix", "so").agentWorks().tell(resume)
    assert.include(s.lines, "StepStarted EXECUTE (fix)")
  })

  it("keeps what the workspace reports during the pause", () => {
    const s = story().executing(withGates).worked("abc1").tell(pause)
    assert.deepStrictEqual(s.gates(true).lines, ["RunPaused"])
    assert.deepStrictEqual(s.tell(resume).lines, [
      "RunResumed",
      "StepStarted REVIEW (gates-passed)",
      "reviewer RequestReview"
    ])
  })

  it("still asks what the agent asks during its last turn", () => {
    const s = story().executing().tell(pause).agentPrompts("p1")
    assert.strictEqual(s.run.status, "waiting")
    assert.deepStrictEqual(s.answer("once").lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
    assert.deepStrictEqual(s.completes("abc1").lines, ["RunPaused"])
  })

  it("is refused a second time, unless with --now", () => {
    const s = story().executing().tell(pause)
    row(s, pause).refused(/pauses once the work under way has finished/)
    assert.deepStrictEqual(s.tell(pauseNow).lines, ["session-manager InterruptTurn", "RunPaused"])
    row(s, pauseNow).refused(/is paused already/)
  })

  it("is taken back by a resume before it begins; a resume without a pause is refused", () => {
    const s = story().executing().tell(pause).tell(resume)
    assert.deepStrictEqual(s.completes("abc1").lines, ["workspace VerifyCommit"])
    row(s, resume).refused("Run r1-test is not paused: it is running.")
  })
})

describe("any, AbortRun", () => {
  it("aborts a turn's session and keeps the workspace", () => {
    const s = story().executing().tell(abort)
    assert.deepStrictEqual(s.lines, ["RunAborted", "session-manager AbortSession", "workspace ReleaseWorkspace"])
    assert.deepStrictEqual([s.run.status, s.run.reason], ["aborted", "enough"])
  })

  it("closes the open question", () => {
    assert.deepStrictEqual(story().executing().needsHuman().tell(abort).lines[0], "gate WithdrawEscalation")
  })

  it("closes the review", () => {
    assert.include(story().executing().worked("abc1").tell(abort).lines, "reviewer CloseReview")
  })

  it("works while the workspace is prepared and while the run is paused", () => {
    assert.strictEqual(story().start().tell(abort).run.status, "aborted")
    assert.strictEqual(story().executing().tell(pauseNow).tell(abort).run.status, "aborted")
  })
})

describe("any terminal", () => {
  const aborted = () => {
    const s = story().executing()
    const report = s.turnReport({ result: "complete", commit: "abc1" })
    return { s: s.tell(abort), report }
  }

  it("refuses any later report as stale, and changes nothing", () => {
    const { s } = aborted()
    row(s, { _tag: "CommitVerified", runId, phase: s.phase.id, commit: "abc1" }).refused(/stale/)
    row(s, { _tag: "WorkspaceFailed", runId, operation: "x", reason: "y" }).refused(/stale/)
  })

  it("releases a workspace that is prepared later", () => {
    const s = story().start().tell(abort).prepared()
    assert.deepStrictEqual(s.lines, ["workspace ReleaseWorkspace", "CommandRefused"])
    assert.deepStrictEqual([s.run.status, s.command("ReleaseWorkspace").outcome], ["aborted", "aborted"])
  })

  it("counts what a turn used that is reported later, once, and moves no more", () => {
    const { report, s } = aborted()
    const refused = s.tell(report).journal.findLast(({ _tag }) => _tag === "CommandRefused")
    assert.deepInclude(refused, { command: "TurnCompleted", code: "ended" })
    assert.deepStrictEqual([s.run.status, s.run.usage.author.turns, s.run.usage.author.cost], ["aborted", 1, 0.5])
    row(s, report).refused("TurnCompleted is stale: run r1-test is aborted.")
    const { sessionId } = report
    const late = { _tag: "UsageCounted", runId, sessionId, role: "author", ...noUsage, cost: 0.25, calls: 1 } as const
    assert.deepInclude(s.tell(late).run.usage.author, { cost: 0.75, turns: 1 })
    assert.strictEqual(s.run.status, "aborted")
  })

  it.each(["aborted", "timeout"] as const)("counts what a turn used that failed as %s", (kind) => {
    const s = story().executing()
    const failure = { ...s.turnFailure(kind), cost: 0.5 }
    assert.strictEqual(s.tell(abort).tell(failure).run.usage.author.cost, 0.5)
  })

  it("refuses a verdict that comes later as stale", () => {
    const s = story().executing().worked("abc1")
    const verdict = s.verdictEvent({ readiness: "ready", items: [] })
    row(s.tell(abort), verdict).refused(/stale/)
  })

  it("refuses any later answer as stale", () => {
    const s = story().executing().needsHuman()
    const answer = s.answerOf({ choice: "fix" })
    row(s.tell(abort), answer).refused(/stale/)
  })

  it("refuses any later activity as stale", () => {
    const { s } = aborted()
    row(s, { _tag: "AgentWorking", runId, sessionId: s.author, cause: "human", evidence: "x" }).refused(/stale/)
  })

  it("says to whoever aborts, pauses or resumes it that it has ended, and how", () => {
    const { s } = aborted()
    row(s, abort).refused("Run r1-test was already aborted: there is nothing to abort.")
    row(s, pauseNow).refused("Run r1-test was already aborted: there is nothing to pause.")
    row(s, resume).refused(/^Run r1-test was already aborted: it cannot be resumed; .*'reprise run'/)
  })

  it("ignores the echoes of its own end", () => {
    const { s } = aborted()
    row(s, { _tag: "SessionAborted", runId, sessionId: s.author, reason: "x" }).then([])
    row(s, { _tag: "CommandRefused", runId, command: "AnswerReceived", reason: "stale" }).then([])
  })
})
