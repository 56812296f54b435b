import { assert, describe, it } from "@effect/vitest"
import { sessionIdOf } from "@reprise/protocol"
import { row } from "../support/row.ts"
import { item, runId, withGates } from "../support/samples.ts"
import { story } from "../support/story.ts"

const asked = () => story().executing().needsHuman()

describe("ESCALATE, the agent of this step is seen working", () => {
  for (const cause of ["human", "agent"] as const) {
    it(`withdraws the escalation and resumes the step (cause ${cause})`, () => {
      const s = asked().agentWorks(cause)
      assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
      assert.strictEqual(s.run.status, "running")
      assert.deepStrictEqual(s.run.pending, { _tag: "Agent", sessionId: s.author })
    })
  }

  it("resets the attempt counters of the step", () => {
    const s = asked().answer("continue-session").needsHuman()
    assert.deepStrictEqual([s.phase.visits.EXECUTE, s.run.attempt], [2, 2])
    s.agentWorks()
    assert.deepStrictEqual([s.phase.visits.EXECUTE, s.run.attempt], [0, 1])
  })

  it("asks for a report in the same session once the agent is idle, and continues from that report", () => {
    const s = asked().agentWorks().agent("AgentIdle")
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    const { reason, session } = s.command("StartTurn")
    assert.deepStrictEqual([session, reason], [{ _tag: "Existing", sessionId: s.author }, "report"])
    assert.deepStrictEqual(s.completes("abc1234").lines, ["workspace VerifyCommit"])
  })

  it("ignores activity of a turn, of another session, or of a step that does not wait", () => {
    const s = asked()
    const working = { _tag: "AgentWorking", runId, evidence: "x" } as const
    row(s, { ...working, sessionId: s.author, cause: "turn" }).then([])
    row(s, { ...working, sessionId: sessionIdOf(runId, 9), cause: "human" }).then([])
    const known = { _tag: "WorkSeen", sessionId: s.author, working: true } as const
    row(story().executing(), { ...working, sessionId: s.author, cause: "human" }).then([known])
  })

  it("asks about a turn that took over what somebody did in its session, which the run was told after it asked", () => {
    const working = { _tag: "AgentWorking", runId, evidence: "x" } as const
    const told = () => {
      const s = story().executing()
      return s.tell({ ...working, sessionId: s.author, cause: "human" })
    }
    const raised = ["gate RaiseEscalation", "StepWaiting EXECUTE"]
    assert.deepStrictEqual(told().needsHuman().lines, raised)
    const s = told()
    s.tell({ ...working, sessionId: s.author, cause: "turn" })
    assert.deepStrictEqual(s.run.working, [])
    assert.deepStrictEqual(s.needsHuman().lines, raised)
    s.agentWorks()
    assert.deepStrictEqual(s.run.pending, { _tag: "Agent", sessionId: s.author })
  })

  it("still knows of a human in another session when the agent of one is idle", () => {
    const s = story().executing().worked("abc1").agentWorks()
    s.agentWorks("human", s.reviewer)
    assert.deepStrictEqual(s.run.working, [s.author, s.reviewer])
    assert.deepStrictEqual(s.agent("AgentIdle").run.working, [s.reviewer])
  })

  it("withdraws a question that names the session, asked by a version that did not say which session it watches", () => {
    const s = asked()
    const { watch: _, ...question } = s.question
    s.state = { ...s.run, pending: { ...s.pending("Answer"), question } }
    assert.deepStrictEqual(s.agentWorks().lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
  })

  it("resumes once on a burst of activity", () => {
    const s = asked().agentWorks()
    assert.deepStrictEqual(s.agentWorks().lines, [])
    assert.deepStrictEqual(s.agentWorks("agent").lines, [])
  })

  it("refuses an answer that comes afterwards, with the reason", () => {
    const s = asked()
    const answer = s.answerOf({ choice: "fix" })
    row(s.agentWorks(), answer).refused(/is not open: it was withdrawn \(agent-working\)/)
  })

  it("still offers the session when the agent's report needs a human again", () => {
    const s = asked().agentWorks().agent("AgentIdle").needsHuman("still stuck")
    assert.include(s.choices, "continue-session")
  })

  it("asks a human when the agent is gone", () => {
    const s = asked().agentWorks().agent("AgentGone")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.notInclude(s.choices, "continue-session")
  })

  it.each(["SessionExpired", "SessionCompleted", "SessionAborted", "SessionFailed", "SessionArchived"] as const)(
    "asks a human when the agent's session ends: %s",
    (_tag) => {
      const s = asked().agentWorks().agent(_tag)
      assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
      assert.match(s.question.ask.reason, /when that ended: the session /)
      assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    }
  )

  it("withdraws what the agent asked when its session ends", () => {
    const s = asked().agentWorks().agentPrompts("p1").agent("SessionAborted")
    assert.deepStrictEqual(s.lines.slice(0, 2), ["gate WithdrawEscalation", "StepResumed  (agent-working)"])
    assert.strictEqual(s.lines.at(-1), "StepWaiting EXECUTE")
  })

  it("continues in QUALITY_RETRY after exhausted quality retries", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
      .gates(false)
    s.agentWorks().agent("AgentIdle").completes("abc2")
    assert.strictEqual(s.run.step, "QUALITY_RETRY")
    assert.deepStrictEqual(s.commitVerified().lines, ["StepStarted QUALITY_CHECK (fixed)", "workspace RunQualityGates"])
  })

  it("continues in AUTO_FIX after the review limit, and grants one more review", () => {
    const s = story()
      .executing({ limits: { maxReviewIterations: 1 } })
      .worked("abc1")
    s.verdict("not_ready", item("R1")).completes().agentWorks().agent("AgentIdle").worked("abc2")
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
  })

  it("goes on in AUTO_FIX when the author's session, which a reviewer's question names, is seen working", () => {
    const s = story().executing().worked("abc1").reviewerAsks()
    assert.strictEqual(s.question.ask.evidence.authorSessionId, s.author)
    assert.deepStrictEqual(s.agentWorks().lines, ["gate WithdrawEscalation", "StepResumed AUTO_FIX (agent-working)"])
    s.agent("AgentIdle").completes("abc2").commitVerified()
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
  })

  it("reviews again in the same session after work in the session of the reviewer who asked", () => {
    const s = story()
      .executing({ limits: { maxReviewIterations: 1 } })
      .worked("abc1")
      .reviewerAsks()
    assert.deepStrictEqual(s.agentWorks("human", s.reviewer).lines, [
      "gate WithdrawEscalation",
      "StepResumed REVIEW (agent-working)"
    ])
    assert.deepStrictEqual(s.run.pending, { _tag: "Agent", sessionId: s.reviewer })
    s.agent("AgentIdle", s.reviewer)
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (reviewer-idle)", "reviewer RequestReview"])
    assert.deepInclude(s.verdict("ready").lines, "StepStarted PHASE_GATE (verdict-ready)")
  })

  it("asks about the review when the reviewer's session ends in the middle of that work", () => {
    const s = story().executing().worked("abc1").reviewerAsks()
    s.agentWorks("human", s.reviewer).agent("SessionAborted", s.reviewer)
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.deepStrictEqual(s.choices, ["fix", "override", "abort"])
    assert.deepStrictEqual(s.answer("fix").lines.slice(1), [
      "StepStarted REVIEW (fix)",
      "reviewer CloseReview",
      "reviewer RequestReview"
    ])
  })

  it("leaves open what a reviewer asks whose session has ended in which somebody worked", () => {
    const s = story().executing().worked("abc1")
    s.agentWorks("human", s.reviewer).agent("SessionExpired", s.reviewer).reviewerAsks()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.run.status, "waiting")
  })

  it("ignores work in the reviewer's session at a question of the author, and begins the next review anyway", () => {
    const s = story().executing().worked("abc1").verdict("not_ready", item("R1"))
    assert.deepStrictEqual(s.needsHuman().agentWorks("human", s.reviewer).lines, [])
    s.answer("c").worked("abc2")
    assert.deepStrictEqual([s.lines.at(-1), s.run.working], ["reviewer RequestReview", []])
  })

  it("goes on in AUTO_FIX from a failed review, and from the gate of a phase that is approved", () => {
    const failed = story().executing().worked("abc1").reviewFails().agentWorks()
    assert.deepInclude(failed.lines, "StepResumed AUTO_FIX (agent-working)")
    const gate = story()
      .executing({ gates: { phase: "human" } })
      .worked("abc1")
      .verdict("ready")
      .agentWorks()
    assert.deepInclude(gate.lines, "StepResumed AUTO_FIX (agent-working)")
  })

  it("withdraws at once a question that is asked while somebody works in the session that it names", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
    assert.deepStrictEqual(s.agentWorks().lines, [])
    s.gates(false)
    assert.deepStrictEqual(s.lines, [
      "gate RaiseEscalation",
      "StepWaiting QUALITY_CHECK",
      "gate WithdrawEscalation",
      "StepResumed QUALITY_RETRY (agent-working)"
    ])
    assert.deepStrictEqual(s.run.pending, { _tag: "Agent", sessionId: s.author })
    assert.deepStrictEqual(s.agent("AgentIdle").lines, ["session-manager StartTurn"])
  })

  it("withdraws at once a reviewer's question whose evidence names the session in which somebody works", () => {
    const s = story().executing().worked("abc1").agentWorks()
    s.verdict("not_ready", item("R1", "human_required"))
    assert.deepStrictEqual(s.lines.slice(-2), ["gate WithdrawEscalation", "StepResumed AUTO_FIX (agent-working)"])
  })

  it("withdraws it also when somebody works in the session of an earlier author as well", () => {
    const s = asked()
    const earlier = s.author
    s.answer("fix").worked("abc1").agentWorks().agentWorks("human", earlier)
    s.verdict("not_ready", item("R1", "human_required"))
    assert.deepStrictEqual(s.lines.slice(-2), ["gate WithdrawEscalation", "StepResumed AUTO_FIX (agent-working)"])
  })

  it("asks when the work in the session was over before", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
    s.agentWorks().agent("AgentIdle").gates(false)
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting QUALITY_CHECK"])
  })

  it("withdraws a checkpoint as well, and resumes its author's step", () => {
    const s = story().executing()
    s.reports({ result: "checkpoint", checkpoint: { task: "P1.2", type: "human-action", description: "Do it" } })
    s.stateWritten().agentWorks()
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
    assert.isUndefined(s.phase.checkpoint)
  })
})

describe("ESCALATE, agent working, then prompting", () => {
  it("shows that the step runs and then waits again", () => {
    const s = asked().agentWorks().agentPrompts("p1")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.deepStrictEqual(s.answer("once").lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
    assert.strictEqual(s.run.pending._tag, "Agent")
  })
})

describe("an agent prompts in its turn", () => {
  it("asks a human with the runtime's own options, and passes the answer back while the turn continues", () => {
    const s = story().executing().agentPrompts("p1")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.strictEqual(s.question.ask.origin, "permission")
    assert.deepStrictEqual(s.choices, ["once", "always", "reject"])
    s.answer("always")
    const reply = s.last.at(-1)
    assert.deepStrictEqual(reply?._tag === "SendCommand" ? reply.command : undefined, {
      _tag: "ReplyToPrompt",
      sessionId: s.author,
      promptId: "p1",
      reply: "always"
    } as never)
    assert.strictEqual(s.completes("abc1").run.pending._tag, "Workspace")
  })

  it("takes an option's label or other words as the answer to a question", () => {
    const s = story().executing().agentPrompts("p1", "question")
    assert.deepStrictEqual(s.choices, ["red", "blue", "other"])
    s.answer("other", "green, please")
    assert.include(JSON.stringify(s.last), "green, please")
  })

  it("asks a second prompt after the first is answered, and a repeated one only once", () => {
    const s = story().executing().agentPrompts("p1").agentPrompts("p2").agentPrompts("p2").agentPrompts("p1")
    assert.strictEqual(s.question.prompt?.promptId, "p1")
    s.answer("once")
    assert.deepStrictEqual(s.lines, [
      "StepResumed EXECUTE (answer)",
      "session-manager ReplyToPrompt",
      "gate RaiseEscalation",
      "StepWaiting EXECUTE"
    ])
    assert.strictEqual(s.question.prompt?.promptId, "p2")
    assert.strictEqual(s.answer("once").run.status, "running")
  })

  it("takes an agent's own option that is called abort for an answer to the agent", () => {
    const s = story().executing()
    const options = ["abort", "retry"].map((name) => ({ name, label: name }))
    const asking = { _tag: "AgentPrompting", runId, sessionId: s.author, promptId: "p1", kind: "question" } as const
    s.tell({ ...asking, text: "The merge stopped.", options }).answer("abort")
    assert.deepStrictEqual([s.run.status, s.lines.at(-1)], ["running", "session-manager ReplyToPrompt"])
  })

  it("forgets a second prompt that was not asked yet when its turn ends", () => {
    const s = story().executing().agentPrompts("p1").agentPrompts("p2").needsHuman().answer("continue-session")
    s.agentPrompts("p3").answer("once")
    assert.deepStrictEqual(s.lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
  })

  it("forgets a second prompt that was not asked yet when the agent that works by itself is idle", () => {
    const s = asked().agentWorks().agentPrompts("p1").agentPrompts("p2").agent("AgentIdle")
    s.agentPrompts("p3").answer("once")
    assert.deepStrictEqual(s.lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
  })

  it("withdraws the open prompt when its turn ends", () => {
    const s = story().executing().agentPrompts("p1").completes("abc1")
    assert.deepStrictEqual(s.lines, [
      "gate WithdrawEscalation",
      "StepResumed  (agent-working)",
      "workspace VerifyCommit"
    ])
  })

  it("leaves the open prompt as it is when its session ends, until its turn ends too", () => {
    const s = story().executing().agentPrompts("p1").agent("SessionExpired")
    assert.deepStrictEqual(s.lines, [])
    assert.strictEqual(s.question.ask.sessionId, s.author)
    assert.deepStrictEqual(s.turnFails("session-missing").lines[0], "gate WithdrawEscalation")
  })

  it("withdraws the open prompt when its turn is refused", () => {
    const s = story().executing().agentPrompts("p1")
    s.tell({ _tag: "CommandRefused", runId, command: "StartTurn", reason: "the session is gone" })
    assert.deepStrictEqual(s.lines, [
      "gate WithdrawEscalation",
      "StepResumed  (agent-working)",
      "gate RaiseEscalation",
      "StepWaiting EXECUTE"
    ])
  })

  it("withdraws the open prompt when a human answers it in the session itself", () => {
    const s = story().executing().agentPrompts("p1").agentWorks("human")
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
    assert.strictEqual(s.run.pending._tag, "Turn")
  })

  it("asks a reviewer's prompt as well", () => {
    const s = story().executing().worked("abc1")
    s.agentPrompts("p1", "permission", sessionIdOf(runId, 1))
    assert.deepStrictEqual(s.lines, [])
    s.agentPrompts("p1", "permission", `${runId}-p1-s1` as never)
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.answer("once").run.pending._tag, "Review")
  })

  it("rejects permissions in auto mode, and tells an agent that asks a question to decide for itself", () => {
    const s = story().executing({ auto: true }).agentPrompts("p1")
    assert.deepStrictEqual(s.lines, ["session-manager ReplyToPrompt"])
    assert.include(JSON.stringify(s.last), '"reject"')
    assert.include(JSON.stringify(s.agentPrompts("p2", "question").last), "Decide for yourself")
    assert.strictEqual(s.run.notices.length, 2)
  })

  it("rejects a permission in auto mode whose runtime names no options, and asks a human where none rejects", () => {
    const s = story().executing({ auto: true })
    const permission = { _tag: "AgentPrompting", runId, sessionId: s.author, kind: "permission", text: "?" } as const
    assert.include(JSON.stringify(s.tell({ ...permission, promptId: "p1", options: [] }).last), '"reject"')
    const options = [{ name: "once", label: "Once" }]
    assert.deepStrictEqual(s.tell({ ...permission, promptId: "p2", options }).lines[0], "gate RaiseEscalation")
  })
})
