import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { EscalationId, RunId, SessionId } from "@reprise/protocol"
import { escalationActor } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { NotifyWork } from "../src/notify/Notice.ts"
import { at, escalationId, option, question, raised, reply, runId, timeAt } from "./fixtures.ts"

const escalation = given(escalationActor, NotifyWork)

const answered = (choice: string, guidance?: string): JournalEvent => ({
  _tag: "Answered",
  at: timeAt(5),
  choice,
  by: "ada",
  via: "cli",
  ...(guidance === undefined ? {} : { guidance })
})
const withdrawn: JournalEvent = { _tag: "Withdrawn", at: timeAt(5), escalationId, reason: "agent-working" }

describe("raising a question", () => {
  it("opens it, publishes it and sets the first reminder for ten minutes later", () => {
    const asked = question()
    const opened = escalation([]).when(asked, at(0))
    opened.then([{ _tag: "Raised", at: timeAt(0), question: asked }])
    opened.sends([
      { _tag: "PublishEvent", event: { ...asked, _tag: "EscalationRaised" } },
      { _tag: "SetTimer", dueAt: timeAt(10), command: { _tag: "Remind", escalationId, count: 1 } as never }
    ])
  })

  it("leaves one question after a thousand repeats", () => {
    let history: ReadonlyArray<JournalEvent> = []
    for (let n = 0; n < 1_000; n++) {
      const { outcome } = escalation(history).when(question(), at(n))
      if (outcome._tag === "Success") history = [...history, ...outcome.success]
    }
    assert.deepStrictEqual(history, [raised()])
  })

  it("updates an open question whose words changed, and keeps the time it was raised", () => {
    const changed = question({ reason: "Which database, and why?" })
    const updated = escalation([raised()]).when(changed, at(3))
    updated.then([{ _tag: "Updated", at: timeAt(3), question: changed }])
    updated.sends([{ _tag: "PublishEvent", event: { ...changed, _tag: "EscalationRaised" } }])
    const shown = escalationActor.view?.(updated.state)
    assert.containSubset(shown, { raisedAt: timeAt(0), reason: "Which database, and why?", state: "open" })
  })

  it("updates an open question when only its evidence changed", () => {
    const changed = question({ evidence: { commit: "aaaa" } })
    escalation([raised()])
      .when(changed, at(3))
      .then([{ _tag: "Updated", at: timeAt(3), question: changed }])
  })

  it("changes nothing when the same question is repeated after its answer", () => {
    escalation([raised(), answered("fix")])
      .when(question(), at(9))
      .then([])
  })

  it.each([
    [
      "another question under the id of an answered one",
      [raised(), answered("fix")],
      question({ reason: "other" }),
      /^Escalation r1-e1 is closed: ada answered 'fix' through cli at .* Raise a new one under another id\.$/
    ],
    ["an open question of another run", [raised()], question({ runId: RunId.make("r2") }), /belongs to run r1/],
    ["a question without options", [], question({ options: [] }), /has no options/]
  ] as const)("refuses %s", (_, history, command, reason) => {
    escalation(history).when(command, at(9)).refused(reason)
  })

  it("refuses a command whose body names another escalation than its subject", () => {
    escalation([])
      .when(question({ escalationId: EscalationId.make("r9-e9") }), at(0))
      .refused(/must be the same/)
  })
})

describe("answering a question", () => {
  it("publishes the answer and sends it to the orchestrator", () => {
    const { sent } = escalation([raised()]).when(reply("continue-session", { guidance: "use sqlite" }), at(5))
    const choice = { choice: "continue-session", by: "ada", via: "cli", guidance: "use sqlite" }
    const place = { phase: question().phase, step: question().step, sessionId: question().sessionId }
    assert.deepStrictEqual(sent as unknown, [
      { _tag: "PublishEvent", event: { _tag: "EscalationAnswered", runId, escalationId, ...place, ...choice } },
      {
        _tag: "SendCommand",
        service: "orchestrator",
        key: runId,
        command: { _tag: "AnswerReceived", runId, escalationId, ...choice }
      }
    ])
  })

  it.each([
    ["that can be continued", { sessionId: SessionId.make("r1") }],
    ["that cannot be continued", { evidence: { sessionId: SessionId.make("r1") } }]
  ] as const)("publishes the answer about a standalone session %s with its id, and hands it to its run", (_, named) => {
    const { phase: _phase, sessionId: _session, step: _step, ...asked } = question()
    const { sent } = escalation([raised({ ...asked, ...named })]).when(reply("fix"), at(5))
    const answered = { _tag: "EscalationAnswered", runId, sessionId: SessionId.make("r1"), escalationId }
    assert.deepStrictEqual(sent as unknown, [
      { _tag: "PublishEvent", event: { ...answered, choice: "fix", by: "ada", via: "cli" } },
      {
        _tag: "SendCommand",
        service: "orchestrator",
        key: runId,
        command: { _tag: "AnswerReceived", runId, escalationId, choice: "fix", by: "ada", via: "cli" }
      }
    ])
  })

  it.each([
    ["continue-session", "continue-session"],
    ["c", "continue-session"],
    ["C", "continue-session"],
    ["Continue-Session", "continue-session"],
    ["fix", "fix"],
    [" f ", "fix"],
    ["override", "override"],
    ["o", "override"],
    ["approve", "override"],
    ["abort", "abort"],
    ["q", "abort"]
  ])("reads '%s' as %s", (typed, choice) => {
    escalation([raised()])
      .when(reply(typed), at(5))
      .then([answered(choice)])
  })

  it("understands the words of a step question whose options carry no keys", () => {
    const bare = question({ options: ["continue-session", "fix", "override", "abort"].map((name) => option(name)) })
    escalation([raised(bare)])
      .when(reply("c"), at(5))
      .then([answered("continue-session")])
    escalation([raised(bare)])
      .when(reply("q"), at(5))
      .then([answered("abort")])
  })

  it.each([
    ["approve", ["approve", "other", "abort"], "approve"],
    ["continue", ["continue", "pause", "abort"], "continue"],
    ["Use PostgreSQL: managed", ["Use PostgreSQL: managed", "other"], "Use PostgreSQL: managed"],
    ["once", ["once", "always", "reject"], "once"],
    ["f", ["a", "f"], "f"]
  ])("prefers an option's own name '%s' to the words of a step question", (typed, names, choice) => {
    const asked = question({ options: names.map((name) => option(name)) })
    escalation([raised(asked)])
      .when(reply(typed), at(5))
      .then([answered(choice)])
  })

  const gateOptions = ["continue", "pause", "abort"].map((name) => option(name, { guidance: "optional" }))
  it.each(["c", "continue-session", "CONTINUE-SESSION", " continue-session "])(
    "refuses '%s' with the reason when continue-session is not offered, and never reads it as continue",
    (typed) => {
      const asked = question({ options: gateOptions, evidence: { continueUnavailable: "the turn timed out." } })
      escalation([raised(asked)])
        .when(reply(typed), at(5))
        .refused("continue-session is not offered here: the turn timed out. Choose one of: continue, pause, abort.")
    }
  )

  it.each(
    [
      "",
      "x",
      "fi",
      "continue",
      "continue-session please",
      "constructor",
      "__proto__",
      "fix\nabort",
      "c".repeat(5_000)
    ].map((typed) => ({ typed, shown: typed.slice(0, 30) }))
  )("refuses the unknown choice '$shown' and lists the options", ({ typed }) => {
    escalation([raised()])
      .when(reply(typed), at(5))
      .refused(
        /is not one of the choices. Choose one of: continue-session \(c\), fix \(f\), override \(o\), abort \(q\)\.$/
      )
  })

  it("keeps guidance of many lines verbatim", () => {
    const guidance = "First:\n  - use sqlite\n\n```ts\nconst x = `y`\n```\n"
    escalation([raised()])
      .when(reply("fix", { guidance }), at(5))
      .then([answered("fix", guidance)])
  })

  it("keeps guidance even when the option asks for none", () => {
    escalation([raised()])
      .when(reply("override", { guidance: "flaky CI" }), at(5))
      .then([answered("override", "flaky CI")])
  })

  it("treats blank guidance as none", () => {
    escalation([raised()])
      .when(reply("fix", { guidance: " \n" }), at(5))
      .then([answered("fix")])
  })

  const other = question({ options: [option("other", { guidance: "required" })] })
  it.each([undefined, "", "  \n"])("refuses an option that needs guidance when the guidance is %j", (guidance) => {
    escalation([raised(other)])
      .when(reply("other", guidance === undefined ? {} : { guidance }), at(5))
      .refused(/needs guidance/)
  })

  it("takes an option that needs guidance with the guidance it needs", () => {
    escalation([raised(other)])
      .when(reply("other", { guidance: "use sqlite" }), at(5))
      .then([answered("other", "use sqlite")])
  })

  it("takes the option that is written as the answer is, where another differs only in upper and lower case", () => {
    const asked = question({ options: [option("FIX"), option("fix")] })
    escalation([raised(asked)])
      .when(reply("fix"), at(5))
      .then([answered("fix")])
  })

  it("lets the first of two answers win, and tells the second who answered what", () => {
    escalation([raised(), answered("fix")])
      .when(reply("abort", { by: "bob", via: "web" }), at(6))
      .refused(`Escalation r1-e1 is closed: ada answered 'fix' through cli at ${timeAt(5)}.`)
  })

  it("refuses an answer to a withdrawn question, and says why it was withdrawn", () => {
    escalation([raised(), withdrawn])
      .when(reply("fix"), at(6))
      .refused(/withdrawn at .* \(agent-working\)/)
  })

  it("refuses an answer to a question that was never raised", () => {
    escalation([])
      .when(reply("fix"), at(6))
      .refused(/There is no escalation r1-e1/)
  })

  it("takes an answer that names no commit, whatever commit the question shows", () => {
    escalation([raised(question({ evidence: { commit: "aaaa" } }))])
      .when(reply("override"), at(5))
      .then([answered("override")])
  })

  it("refuses an answer that was given for another commit than the one shown", () => {
    const asked = question({ evidence: { commit: "aaaa" } })
    escalation([raised(asked)])
      .when(reply("override", { commit: "bbbb" }), at(5))
      .refused(/for commit bbbb, but .* asks about aaaa/)
    escalation([raised()])
      .when(reply("override", { commit: "bbbb" }), at(5))
      .refused(/asks about no commit/)
    escalation([raised(asked)])
      .when(reply("override", { commit: "aaaa" }), at(5))
      .then([{ ...answered("override"), commit: "aaaa" } as JournalEvent])
  })

  it("says afterwards which commit the answerer was shown", () => {
    const given = escalation([raised(question({ evidence: { commit: "aaaa" } }))]).when(
      reply("override", { commit: "aaaa" }),
      at(5)
    )
    assert.containSubset(given.published, [{ _tag: "EscalationAnswered", commit: "aaaa" }])
    assert.containSubset(escalationActor.view?.(given.state), { state: "answered", commit: "aaaa" })
  })
})

describe("withdrawing a question", () => {
  const withdraw = { _tag: "WithdrawEscalation", escalationId, reason: "agent-working" } as const

  it("closes an open question and publishes why", () => {
    const closed = escalation([raised()]).when(withdraw, at(5))
    closed.then([withdrawn])
    assert.containSubset(closed.published, [
      { _tag: "EscalationWithdrawn", runId, escalationId, reason: "agent-working" }
    ])
  })

  it("after an answer tells whoever answered, once, that the run went on without it", () => {
    const history = [raised(), answered("fix", "why")]
    const overruled = escalation(history).when(withdraw, at(6))
    const event = { _tag: "Overruled", at: timeAt(6), reason: "agent-working" } as const
    overruled.then([event])
    assert.containSubset(overruled.published, [
      { _tag: "EscalationOverruled", escalationId, choice: "fix", by: "ada", guidance: "why", reason: "agent-working" }
    ])
    escalation([...history, event])
      .when(withdraw, at(7))
      .then([])
    assert.containSubset(escalationActor.view?.(escalation([...history, event]).state), {
      state: "answered",
      overruledFor: "agent-working"
    })
  })

  it("tells whoever answered without guidance that the run went on", () => {
    const { phase, sessionId, step } = question()
    const said = { choice: "fix", by: "ada", via: "cli", reason: "agent-working" }
    assert.deepStrictEqual(escalation([raised(), answered("fix")]).when(withdraw, at(6)).published as unknown, [
      { _tag: "EscalationOverruled", runId, escalationId, phase, step, sessionId, ...said }
    ])
  })

  it("names no session where the question names none", () => {
    const { sessionId: _, ...asked } = question()
    const { phase, step } = asked
    assert.deepStrictEqual(escalation([raised(asked)]).when(withdraw, at(5)).published as unknown, [
      { _tag: "EscalationWithdrawn", runId, escalationId, phase, step, reason: "agent-working" }
    ])
  })

  it("changes nothing the second time", () => {
    escalation([raised(), withdrawn]).when(withdraw, at(6)).then([])
  })

  it("names the session of a standalone question, even if it cannot be continued", () => {
    const { phase: _phase, sessionId: _session, step: _step, ...asked } = question()
    const standalone = raised({ ...asked, evidence: { sessionId: SessionId.make("r1") } })
    assert.deepStrictEqual(escalation([standalone]).when(withdraw, at(5)).published as unknown, [
      { _tag: "EscalationWithdrawn", runId, escalationId, sessionId: "r1", reason: "agent-working" }
    ])
  })

  it("keeps a question closed that arrives after its own withdrawal", () => {
    const early = escalation([]).when(withdraw, at(5))
    early.then([withdrawn])
    early.sends([])
    escalation([withdrawn]).when(question(), at(6)).then([])
  })
})

describe("every refusal", () => {
  const closed = [raised(), answered("fix")]
  const bare = question({ options: [option("other", { guidance: "required" })] })
  it.each([
    ["misaddressed", [], question({ escalationId: EscalationId.make("r9-e9") })],
    ["no-options", [], question({ options: [] })],
    ["another-run", [raised()], question({ runId: RunId.make("r2") })],
    ["not-found", [], reply("fix")],
    ["closed", closed, reply("fix")],
    ["closed", closed, question({ reason: "other" })],
    ["another-commit", [raised()], reply("fix", { commit: "bbbb" })],
    ["not-an-option", [raised()], reply("nonsense")],
    ["not-offered", [raised(bare)], reply("c")],
    ["guidance-required", [raised(bare)], reply("other")],
    ["unusable-agent", [raised()], reply("override", { runtime: "opencode" })],
    ["unreadable", [raised()], reply("fix", { guidance: "half of a pair: \ud83e" })]
  ] as const)("has the code %s", (code, history, command) => {
    assert.containSubset(escalation(history).when(command, at(9)).outcome, { failure: { code } })
  })
})
