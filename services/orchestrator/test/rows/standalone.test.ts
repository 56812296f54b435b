/** A session without a plan: a run with one phase, no quality gates and no reviewer. */
import { assert, describe, it } from "@effect/vitest"
import { publish, send } from "@reprise/actor"
import { EscalationId, isStandalone, noTokens, SessionId, to, turnIdOf } from "@reprise/protocol"
import { Result } from "effect"
import { runActor } from "../../src/machine/actor.ts"
import type { InputOf } from "../../src/run/inputs.ts"
import { runId, startRun, startStandalone } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const sessionId = SessionId.make(runId)
const needsHuman = () => story().standalone().needsHuman("Which greeting?")
const published = ({ sent }: Story) => sent.filter(({ _tag }) => _tag === "PublishEvent")
const asked = (s: Story) => s.command("RaiseEscalation")
/** The first command that its last input led to. */
const firstSent = ({ last }: Story): object => {
  const message = last.find(({ _tag }) => _tag === "SendCommand")
  return message?._tag === "SendCommand" ? message.command : {}
}
/** The commands that its last input led to. */
const commands = ({ lines }: Story) => lines.filter((line) => !line.startsWith("Step"))
const codeOf = (s: Story, input: Parameters<Story["try"]>[0]) => {
  const decision = s.try(input)
  return Result.isFailure(decision) ? decision.failure.code : "accepted"
}

describe("the run of a standalone session", () => {
  it("begins at once with the user's words, in a session with its own id", () => {
    const s = story().standalone()
    assert.deepStrictEqual(commands(s), ["session-manager StartTurn"])
    assert.deepStrictEqual(s.command("StartTurn"), {
      _tag: "StartTurn",
      turnId: turnIdOf(runId, 1),
      runId,
      role: "author",
      directory: "/repo",
      host: startStandalone.host,
      runtime: "opencode",
      permissions: "ask",
      title: "Write hello.txt.",
      report: "author-status",
      limits: { maxTokens: 1000, inactivityMs: 5000 },
      session: { _tag: "New" },
      fresh: true,
      onMissing: "fresh",
      prompt: "Write hello.txt."
    })
    assert.isTrue(s.last.some((message) => message._tag === "SendCommand" && message.key === runId))
  })

  it("is titled by the first line of the prompt that is not blank", () => {
    const s = story().standalone({ prompt: "\n\n  Write hello.txt.\nIn Esperanto." })
    assert.strictEqual(s.command("StartTurn").title, "Write hello.txt.")
  })

  it("is not started twice, and its id is not taken over", () => {
    const s = story().standalone()
    assert.deepStrictEqual(s.tell(startStandalone).lines, [])
    assert.strictEqual(codeOf(s, { ...startStandalone, prompt: "Something else." }), "already-started")
    assert.strictEqual(codeOf(s, startRun()), "already-started")
  })

  it("publishes only that it waits and goes on, as its session, and has no view as a run", () => {
    const s = needsHuman().answer("c").agent("AgentIdle").needsHuman().agentWorks().agent("AgentIdle").completes()
    assert.deepStrictEqual(published(s), [
      publish({ _tag: "StepWaiting", runId, sessionId, escalationId: EscalationId.make(`${runId}-e1`) }),
      publish({ _tag: "StepResumed", runId, sessionId, cause: "answer" }),
      publish({ _tag: "StepWaiting", runId, sessionId, escalationId: EscalationId.make(`${runId}-e2`) }),
      publish({ _tag: "StepResumed", runId, sessionId, cause: "agent-working" })
    ])
    assert.isUndefined(runActor.view?.(s.state))
  })

  it.each<InputOf<"PauseRun" | "ResumeRun" | "ChangeModel" | "MoveRun" | "AbortRun">>([
    { _tag: "PauseRun", runId, now: true },
    { _tag: "ResumeRun", runId },
    { _tag: "ChangeModel", runId, role: "author", model: "other/two" },
    { _tag: "MoveRun", runId, from: startStandalone.host },
    { _tag: "AbortRun", runId, reason: "x" }
  ])("is unknown to the command for runs $_tag", (command) => {
    assert.strictEqual(codeOf(story().standalone(), command), "not-found")
  })

  it("completes its session when its agent is done, whatever it committed", () => {
    const s = story().standalone().completes()
    assert.deepStrictEqual(commands(s), ["session-manager CompleteSession"])
    assert.strictEqual(s.run.status, "completed")
    assert.deepStrictEqual(commands(story().standalone().completes("not a hash")), ["session-manager CompleteSession"])
  })

  it.each(["needs_human", "failed"] as const)("asks a human when its agent reports %s", (result) => {
    const s = story().standalone().reports({ result, reason: "why" })
    assert.deepStrictEqual(commands(s), ["gate RaiseEscalation"])
    assert.deepStrictEqual(s.choices, ["continue-session", "fix", "abort"])
    assert.deepStrictEqual(asked(s), {
      _tag: "RaiseEscalation",
      escalationId: EscalationId.make(`${runId}-e1`),
      runId,
      sessionId,
      origin: "author",
      reason: "why",
      options: s.question.ask.options,
      evidence: {
        tokens: { ...noTokens, input: 100, output: 10 },
        cost: 0.5,
        lastLines: "I stop here",
        idleSince: s.run.updatedAt
      }
    })
    assert.strictEqual(s.question.ask.options.at(-1)?.label, "abort (stop the session)")
  })

  it("asks a human at a checkpoint and shows it, and abort ends the session there too", () => {
    const checkpoint = { task: "1", type: "decision", description: "Red or blue?" } as const
    const completedTasks = [{ id: "1", commit: "abc1234", files: [] }]
    const s = story().standalone().reports({ result: "checkpoint", checkpoint, completedTasks })
    assert.deepStrictEqual(commands(s), ["gate RaiseEscalation"])
    assert.deepInclude(asked(s), { reason: "Red or blue?", sessionId })
    assert.deepStrictEqual(asked(s).evidence.checkpoint, checkpoint)
    assert.deepStrictEqual(s.answer("abort").lines, ["session-manager AbortSession"])
  })

  it("says so when the agent gives no reason", () => {
    const s = story().standalone().reports({ result: "failed" })
    assert.strictEqual(asked(s).reason, "The agent reports 'failed' without a reason.")
  })

  it.each([
    ["gone", true, "runtime", ["continue-session", "fix", "abort"]],
    ["turn-limit", true, "limit", ["continue-session", "fix", "abort"]],
    ["timeout", false, "runtime", ["fix", "abort"]],
    ["session-missing", false, "runtime", ["fix", "abort"]]
  ] as const)("asks a human when its turn fails as %s, and does not end by itself", (kind, usable, origin, options) => {
    const s = story().standalone().turnFails(kind, usable)
    assert.deepStrictEqual(commands(s), ["gate RaiseEscalation"])
    assert.deepStrictEqual(s.choices, [...options])
    const ask = asked(s)
    assert.deepInclude(ask, { origin, reason: `it was ${kind}` })
    assert.deepStrictEqual(
      [ask.sessionId, ask.evidence.sessionId],
      usable ? [sessionId, undefined] : [undefined, sessionId]
    )
    assert.isTrue(isStandalone(ask))
    assert.strictEqual(s.run.status, "waiting")
  })

  it("withdraws the question about a turn that timed out when a human works in the session", () => {
    assert.deepStrictEqual(commands(story().standalone().turnFails("timeout").agentWorks()), [
      "gate WithdrawEscalation"
    ])
  })

  it("gives each turn what is left of its budget, which does not count what the cache served", () => {
    const s = story().standalone()
    const tokens = { ...noTokens, input: 100, output: 10, cacheRead: 50 }
    s.tell(s.turnReport({ result: "needs_human", reason: "why" }, { tokens })).answer("c")
    assert.strictEqual(s.command("StartTurn").limits.maxTokens, 1000 - 110)
    assert.strictEqual(s.command("StartTurn").limits.inactivityMs, 5000)
  })

  it("asks whether a session may go on that has used up its budget, and grants it again", () => {
    for (const ended of [
      (s: Story) => s.turnReport({ result: "needs_human", reason: "why" }, { tokens: { ...noTokens, input: 5000 } }),
      (s: Story) => ({ ...s.turnFailure("turn-limit", true), tokens: { ...noTokens, input: 5000 } })
    ]) {
      const s = story().standalone()
      s.tell(ended(s))
      if (asked(s).origin !== "limit") s.answer("c")
      assert.deepInclude(asked(s), { origin: "limit", reason: "The session has used 5000 tokens: its budget is 1000." })
      assert.strictEqual(s.answer("c").command("StartTurn").limits.maxTokens, 1000)
    }
  })

  it("is continued as often as a human wants", () => {
    const s = story().standalone({ limits: {} }).needsHuman()
    for (let n = 0; n < 25; n++) s.answer("c").needsHuman()
    assert.strictEqual(s.answer("c").run.status, "running")
    const { maxStepsPerRun, maxStepVisits } = s.run.request.options.limits
    assert.isAbove(Math.min(maxStepsPerRun, maxStepVisits), 1_000_000)
  })
})

describe("the answer to a standalone session", () => {
  it("continue uses the same session, with the guidance word for word", () => {
    const s = needsHuman().answer("continue-session", "Say hi.")
    assert.deepStrictEqual(commands(s), ["session-manager StartTurn"])
    const { fresh, onMissing, reason, session, step, turnId } = s.command("StartTurn")
    assert.deepStrictEqual(session, { _tag: "Existing", sessionId })
    assert.deepStrictEqual([fresh, onMissing, reason, step], [undefined, "reconstruct", "continue", undefined])
    assert.strictEqual(turnId, turnIdOf(runId, 2))
    assert.match(s.prompt, /^Continue the current session[\s\S]*Say hi\.$/)
  })

  it("fix starts over under the same id, with the user's words and the guidance", () => {
    const s = needsHuman().answer("fix", "Say hi.")
    assert.deepStrictEqual(commands(s), ["session-manager StartTurn"])
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "New" }, fresh: true })
    assert.isTrue(s.last.some((message) => message._tag === "SendCommand" && message.key === runId))
    assert.match(s.prompt, /^Write hello\.txt\.\n\n[\s\S]*Say hi\.$/)
  })

  it("a second fix is told the guidance of the first one too", () => {
    const s = needsHuman().answer("fix", "Say hi.").needsHuman().answer("fix", "In French.")
    assert.match(s.prompt, /^Write hello\.txt\.[\s\S]*Say hi\.[\s\S]*In French\.$/)
  })

  it("fix tells everything again to a new conversation that has not read its prompt", () => {
    const s = needsHuman().answer("fix", "Esperanto.").reports({ result: "needs_human", reason: "x" }).answer("fix")
    s.turnFails("runtime", true).agentWorks().agent("AgentIdle")
    assert.include(s.prompt, "Esperanto.")
  })

  it("abort ends it, once, also after it has started over", () => {
    const s = needsHuman().answer("fix").needsHuman().answer("abort", "no use")
    assert.deepStrictEqual(commands(s), ["session-manager AbortSession"])
    const reason = "aborted by anna through cli: no use"
    assert.isTrue(s.last.some((message) => message._tag === "SendCommand" && message.key === runId))
    assert.deepInclude(firstSent(s), { _tag: "AbortSession", sessionId, reason })
    assert.strictEqual(s.run.status, "aborted")
  })

  it("counts once, and only for the open escalation", () => {
    const s = needsHuman()
    const answer = s.answerOf({ choice: "fix" })
    s.answer("continue-session")
    assert.strictEqual(codeOf(s, answer), "question-closed")
    const other = { ...answer, escalationId: EscalationId.make(`${runId}-e7`) }
    assert.strictEqual(codeOf(needsHuman(), other), "question-closed")
  })

  it("does not offer continue again after a failed continue, but offers it when the agent needs a human again", () => {
    const continued = () => needsHuman().answer("c")
    assert.deepStrictEqual(continued().turnFails("gone", true).choices, ["fix", "abort"])
    assert.deepStrictEqual(continued().reports({ result: "failed", reason: "x" }).choices, ["fix", "abort"])
    assert.deepStrictEqual(continued().needsHuman().choices, ["continue-session", "fix", "abort"])
  })

  it("offers continue again when its continued turn meets the same outage", () => {
    const s = story().standalone().turnFails("rate_limited", true).answer("c").turnFails("rate_limited", true)
    assert.deepStrictEqual(s.choices, ["continue-session", "fix", "change-model", "abort"])
    assert.strictEqual(s.answer("m", "other/two").command("StartTurn").model, "other/two")
  })

  it("is asked for again when somebody else withdraws the escalation", () => {
    const s = needsHuman()
    const escalationId = EscalationId.make(`${runId}-e1`)
    s.tell({ _tag: "EscalationWithdrawn", runId, sessionId, escalationId, reason: "run-ended" })
    assert.deepStrictEqual(commands(s), ["gate RaiseEscalation"])
    assert.strictEqual(asked(s).escalationId, `${runId}-e2`)
  })
})

describe("what the agent of a standalone session asks", () => {
  it("is raised as its own question, and the answer goes back into the running turn", () => {
    const s = story().standalone().agentPrompts("p1")
    assert.deepStrictEqual(commands(s), ["gate RaiseEscalation"])
    assert.deepStrictEqual(s.choices, ["once", "always", "reject"])
    assert.deepInclude(asked(s), { runId, sessionId, origin: "permission", reason: "May I? (p1)" })
    assert.strictEqual(asked(s).evidence.promptId, "p1")
    assert.notProperty(asked(s), "step")
    s.answer("once")
    assert.deepStrictEqual(commands(s), ["session-manager ReplyToPrompt"])
    assert.deepInclude(firstSent(s), { _tag: "ReplyToPrompt", sessionId, promptId: "p1", reply: "once" })
    assert.strictEqual(s.pending("Turn").turnId, turnIdOf(runId, 1))
  })

  it("is asked one at a time", () => {
    const s = story().standalone().agentPrompts("p1").agentPrompts("p2")
    assert.deepStrictEqual(commands(s), [])
    s.answer("once")
    assert.deepStrictEqual(commands(s), ["session-manager ReplyToPrompt", "gate RaiseEscalation"])
    assert.strictEqual(asked(s).reason, "May I? (p2)")
  })

  it("reaches the agent with the words that came with a rejection", () => {
    const message = "Use the other file."
    const s = story().standalone().agentPrompts("p1").answer("reject", message)
    const reply = to.sessionManager(sessionId).ReplyToPrompt({ promptId: "p1", reply: "reject", message })
    assert.deepInclude(s.last, send(reply))
    s.needsHuman().answer("c")
    assert.notInclude(s.prompt, message)
  })

  it("is answered in free text by the option other, which needs it", () => {
    const options = ["Red", "other"].map((name) => ({ name, label: name }))
    const prompting: InputOf<"AgentPrompting"> = {
      ...{ _tag: "AgentPrompting", runId, sessionId, promptId: "p1", kind: "question", text: "Which?" },
      options
    }
    const s = story().standalone().tell(prompting)
    assert.deepStrictEqual(
      s.question.ask.options.map(({ guidance, name }) => [name, guidance]),
      [
        ["Red", "none"],
        ["other", "required"]
      ]
    )
    s.answer("other", "Blue")
    assert.deepInclude(firstSent(s), { _tag: "ReplyToPrompt", sessionId, promptId: "p1", reply: "Blue" })
  })

  it("is withdrawn when it was answered in the runtime itself", () => {
    const s = story().standalone().agentPrompts("p1").agentWorks()
    assert.deepStrictEqual(commands(s), ["gate WithdrawEscalation"])
    assert.strictEqual(s.pending("Turn").turnId, turnIdOf(runId, 1))
  })

  it("is withdrawn when the runtime lost it and the agent is idle, and the report is asked for", () => {
    const s = needsHuman().agentWorks().agentPrompts("p1").agent("AgentIdle")
    assert.deepStrictEqual(commands(s), ["gate WithdrawEscalation", "session-manager StartTurn"])
    assert.deepInclude(firstSent(s), { ...withdrawal(2), reason: "superseded" })
  })
})

const withdrawal = (n: number) => ({
  _tag: "WithdrawEscalation" as const,
  escalationId: EscalationId.make(`${runId}-e${n}`)
})

describe("auto-resume of a standalone session", () => {
  it("withdraws the escalation when a human works with the agent, and asks for a report when the agent is idle again", () => {
    const s = needsHuman().agentWorks()
    assert.deepInclude(firstSent(s), { ...withdrawal(1), reason: "agent-working" })
    s.agent("AgentIdle")
    assert.deepStrictEqual(commands(s), ["session-manager StartTurn"])
    assert.match(s.prompt, /^You have worked in this session [\s\S]* are idle again/)
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "Existing", sessionId }, onMissing: "fail" })
  })

  it("never follows from our own prompt", () => {
    assert.deepStrictEqual(commands(needsHuman().agentWorks("turn")), [])
  })
})

describe("the end of a standalone session", () => {
  it.each(["SessionAborted", "SessionExpired"] as const)("by %s withdraws its escalation and ends its run", (end) => {
    const s = needsHuman()
    const answer = s.answerOf({ choice: "fix" })
    s.agent(end)
    assert.deepStrictEqual(commands(s), ["gate WithdrawEscalation"])
    assert.deepInclude(firstSent(s), { ...withdrawal(1), reason: "run-ended" })
    assert.strictEqual(s.run.status, "aborted")
    assert.strictEqual(codeOf(s, answer), "ended")
  })

  it("in the middle of its turn asks nobody, and withdraws what its agent asks", () => {
    const s = story().standalone().agentPrompts("p1")
    s.tell({ ...s.turnFailure("aborted"), sessionEnded: true })
    assert.deepStrictEqual(commands(s), ["gate WithdrawEscalation"])
    assert.deepInclude(firstSent(s), { ...withdrawal(1), reason: "run-ended" })
    assert.strictEqual(s.run.status, "aborted")
    assert.deepStrictEqual(s.agent("SessionAborted", sessionId).lines, [])
  })
})
