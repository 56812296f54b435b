import { assert, describe, it } from "@effect/vitest"
import { sessionIdOf } from "@reprise/protocol"
import { row } from "../support/row.ts"
import { item, runId, story, withGates } from "../support/story.ts"

const asked = () => story().executing().needsHuman()

describe("ESCALATE, the agent of this step is seen working", () => {
  for (const cause of ["human", "agent"] as const) {
    it(`cause ${cause}: escalation withdrawn, step running again`, () => {
      const s = asked().agentWorks(cause)
      assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
      assert.strictEqual(s.run.status, "running")
      assert.deepStrictEqual(s.run.pending, { _tag: "Agent", sessionId: s.author })
    })
  }

  it("attempt counters of this step are reset", () => {
    const s = asked().answer("continue-session").needsHuman()
    assert.strictEqual(s.phase.visits.EXECUTE, 2)
    assert.strictEqual(s.agentWorks().phase.visits.EXECUTE, 0)
  })

  it("when it is idle again it is asked for its report in the same session, and the machine goes on from that", () => {
    const s = asked().agentWorks().agent("AgentIdle")
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    const { reason, session } = s.command("StartTurn")
    assert.deepStrictEqual([session, reason], [{ _tag: "Existing", sessionId: s.author }, "report"])
    assert.deepStrictEqual(s.completes("abc1234").lines, ["workspace VerifyCommit"])
  })

  it("activity of a turn, of another session, or of a step that does not wait changes nothing", () => {
    const s = asked()
    const working = { _tag: "AgentWorking", runId, evidence: "x" } as const
    row(s, { ...working, sessionId: s.author, cause: "turn" }).then([])
    row(s, { ...working, sessionId: sessionIdOf(runId, 9), cause: "human" }).then([])
    row(story().executing(), { ...working, sessionId: s.author, cause: "human" }).then([])
  })

  it("a burst of activity resumes once", () => {
    const s = asked().agentWorks()
    assert.deepStrictEqual(s.agentWorks().lines, [])
    assert.deepStrictEqual(s.agentWorks("agent").lines, [])
  })

  it("an answer that comes after it is refused, with the reason", () => {
    const s = asked()
    const answer = s.answerOf({ choice: "fix" })
    row(s.agentWorks(), answer).refused(/is not open: it was withdrawn \(agent-working\)/)
  })

  it("its report may need a human again: the session is still offered", () => {
    const s = asked().agentWorks().agent("AgentIdle").needsHuman("still stuck")
    assert.include(s.choices, "continue-session")
  })

  it("the agent is gone: ESCALATE", () => {
    const s = asked().agentWorks().agent("AgentGone")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.notInclude(s.choices, "continue-session")
  })

  it("after quality exhausted: QUALITY_RETRY goes on, with the retries granted anew", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
      .gates(false)
    s.agentWorks().agent("AgentIdle").completes("abc2")
    assert.strictEqual(s.run.step, "QUALITY_RETRY")
    assert.deepStrictEqual(s.commitVerified().lines, ["StepStarted QUALITY_CHECK (fixed)", "workspace RunQualityGates"])
  })

  it("after the review limit: AUTO_FIX goes on, and one more review is granted", () => {
    const s = story()
      .executing({ limits: { maxReviewIterations: 1 } })
      .worked("abc1")
    s.verdict("not_ready", item("R1")).completes().agentWorks().agent("AgentIdle").worked("abc2")
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
  })

  it("a reviewer's question is not answered by work in the author's session", () => {
    const s = story().executing().worked("abc1")
    s.verdict("not_ready", item("R1", "human_required"))
    assert.deepStrictEqual(s.agentWorks().lines, [])
  })

  it("a checkpoint is withdrawn as well, and its author's step goes on", () => {
    const s = story().executing()
    s.reports({ result: "checkpoint", checkpoint: { task: "P1.2", type: "human-action", description: "Do it" } })
    s.stateWritten().agentWorks()
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
    assert.strictEqual(s.phase.checkpoints[0]?.resolution, "resolved in the author's own session")
  })
})

describe("ESCALATE, agent working, then prompting", () => {
  it("running, then waiting again: both shown", () => {
    const s = asked().agentWorks().agentPrompts("p1")
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting EXECUTE"])
    assert.deepStrictEqual(s.answer("once").lines, ["StepResumed EXECUTE (answer)", "session-manager ReplyToPrompt"])
    assert.strictEqual(s.run.pending._tag, "Agent")
  })
})

describe("an agent prompts in its turn", () => {
  it("ESCALATE, origin permission, with the runtime's own options; the answer goes back and the turn goes on", () => {
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

  it("a question takes an option's label, or other words", () => {
    const s = story().executing().agentPrompts("p1", "question")
    assert.deepStrictEqual(s.choices, ["red", "blue", "other"])
    s.answer("other", "green, please")
    assert.include(JSON.stringify(s.last), "green, please")
  })

  it("a second prompt waits until the first is answered; a repeated one is not doubled", () => {
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

  it("a turn that ends makes its open prompt moot", () => {
    const s = story().executing().agentPrompts("p1").completes("abc1")
    assert.deepStrictEqual(s.lines, [
      "gate WithdrawEscalation",
      "StepResumed  (agent-working)",
      "workspace VerifyCommit"
    ])
  })

  it("so does the refusal of the turn itself", () => {
    const s = story().executing().agentPrompts("p1")
    s.tell({ _tag: "CommandRefused", runId, command: "StartTurn", reason: "the session is gone" })
    assert.deepStrictEqual(s.lines, [
      "gate WithdrawEscalation",
      "StepResumed  (agent-working)",
      "gate RaiseEscalation",
      "StepWaiting EXECUTE"
    ])
  })

  it("so does a human who answers it in the session itself", () => {
    const s = story().executing().agentPrompts("p1").agentWorks("human")
    assert.deepStrictEqual(s.lines, ["gate WithdrawEscalation", "StepResumed EXECUTE (agent-working)"])
    assert.strictEqual(s.run.pending._tag, "Turn")
  })

  it("a reviewer's prompt is asked as well", () => {
    const s = story().executing().worked("abc1")
    s.agentPrompts("p1", "permission", sessionIdOf(runId, 1))
    assert.deepStrictEqual(s.lines, [])
    s.agentPrompts("p1", "permission", `${runId}-p1-s1` as never)
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting REVIEW"])
    assert.strictEqual(s.answer("once").run.pending._tag, "Review")
  })

  it("auto mode rejects what needs a permission, and tells an agent that asks to decide for itself", () => {
    const s = story().executing({ auto: true }).agentPrompts("p1")
    assert.deepStrictEqual(s.lines, ["session-manager ReplyToPrompt"])
    assert.include(JSON.stringify(s.last), '"reject"')
    assert.include(JSON.stringify(s.agentPrompts("p2", "question").last), "Decide for yourself")
    assert.strictEqual(s.run.notices.length, 2)
  })
})
