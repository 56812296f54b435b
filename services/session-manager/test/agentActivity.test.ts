import { assert, describe, it } from "@effect/vitest"
import { attribute } from "../src/agent/activity.ts"
import { echoMs } from "../src/session/actions.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { at, firstTurn, given, givenWith, nextTurn, sessionId, t } from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const human = { _tag: "ReportActivity", cause: "human", evidence: "text" } as const
const permission = {
  _tag: "RecordAgentQuestion",
  promptId: "per_1",
  kind: "permission",
  text: "bash: ls",
  options: []
} as const satisfies SessionInput

const askedHuman = {
  ...permission,
  options: ["once", "always", "reject"].map((name) => ({ name, label: name }))
} satisfies SessionInput

describe("activity in a session", () => {
  it("counts as use of the session, inside and outside a turn", () => {
    assert.strictEqual(given(firstTurn).when(human, at(100)).state.lastActivityAt, at(100))
    const seen: SessionInput = { _tag: "RecordWorking", turnId: t(1), number: 1, evidence: "text" }
    const outcome = given(working).when(seen, at(100))
    assert.strictEqual(outcome.state.lastActivityAt, at(100))
    assert.deepInclude(outcome.event("AgentWorking"), { phase: "2", step: "EXECUTE" })
  })

  it("makes stale the timer that was set before it", () => {
    const pause: SessionInput = { _tag: "PauseIdle", useCount: given(firstTurn).state.useCount }
    given([...firstTurn, human, { _tag: "ReportIdle" }])
      .when(pause)
      .then([])
  })

  it("keeps the session from being paused, even when the agent works by itself", () => {
    assert.isTrue(given(firstTurn).when({ ...human, cause: "agent" }).state.workingOutsideTurn)
  })

  it("outside of a turn is over when the next turn is requested", () => {
    assert.isFalse(given([...firstTurn, human, nextTurn(2)]).state.workingOutsideTurn)
  })

  it("of a human in our turn belongs to the turn", () => {
    const outcome = given([...working, askedHuman]).when({ _tag: "RecordAgentQuestionGone", promptId: "per_1" })
    assert.include(outcome.types, "AgentWorking")
    assert.isFalse(outcome.state.workingOutsideTurn)
  })

  it("is the agent's own from a full minute after our last prompt", () => {
    const seen = { causeIsOurs: false, live: false }
    assert.strictEqual(attribute({ ...seen, msSinceOurs: echoMs }), "agent")
    assert.strictEqual(attribute({ ...seen, msSinceOurs: echoMs - 1 }), "unknown")
  })
})

describe("a question of an agent", () => {
  it("names the turn in which it is asked", () => {
    assert.strictEqual(given(working).when(permission).event("AgentPrompting").turnId, t(1))
  })

  it("is a different question when it has the same words but another kind", () => {
    const question: SessionInput = { ...permission, kind: "question", promptId: "que_1" }
    assert.deepStrictEqual(given([...working, permission]).when(question).types, ["AgentPrompting"])
  })

  it("is ignored after the end of the session, which leaves none open", () => {
    const abort: SessionInput = { _tag: "AbortSession", sessionId, reason: "x" }
    given([...firstTurn, abort])
      .when(permission)
      .then([])
    assert.deepStrictEqual(given([...firstTurn, permission, abort]).state.agentQuestions, [])
  })

  it("without options of its own is approved once", () => {
    const outcome = givenWith({ actions: { onPrompt: ["approve"] } })(working).when(permission)
    assert.strictEqual(outcome.event("AgentQuestionDecided").reply, "once")
  })

  it("without anybody to grant it is refused with words, so that the turn goes on without it", () => {
    const decided = givenWith({ actions: { onPrompt: ["reject"] } })(working).when(permission)
    assert.match(decided.event("AgentQuestionDecided").message ?? "", /Do the work without it/)
    const reply = { _tag: "ReplyToPrompt", sessionId, promptId: "per_1", reply: "reject" } as const
    const unattended = given([...working, askedHuman]).when({ ...reply, unattended: true })
    assert.match(unattended.event("AgentQuestionAnswered").message ?? "", /Do the work without it/)
    assert.isUndefined(
      given([...working, askedHuman])
        .when(reply)
        .event("AgentQuestionAnswered").message
    )
  })

  it.each([
    [true, "reject", 1],
    [false, "reject", 1],
    [true, "once", 0]
  ] as const)("is told and counted when it is refused: unattended %s, reply %s", (unattended, reply, times) => {
    const outcome = given([...working, askedHuman]).when({
      ...{ _tag: "ReplyToPrompt", sessionId, promptId: "per_1", reply },
      ...(unattended ? { unattended } : {})
    })
    assert.strictEqual(outcome.types.filter((type) => type === "PermissionRefused").length, times)
    assert.strictEqual(outcome.state.refusals, times)
    if (times > 0) {
      assert.deepInclude(outcome.event("PermissionRefused"), { role: "author", promptId: "per_1", unattended })
    }
  })

  it("is none when a rule refuses: it is told and counted, and nothing is left to answer", () => {
    const rule = "permissions.deny.commands: git push *"
    const refused = { _tag: "RecordRefused", promptId: "per_1", text: "bash: git push", rule } as const
    const outcome = given(working).when(refused)
    assert.deepStrictEqual(outcome.types, ["PermissionRefused"])
    const wish = { role: "author", promptId: "per_1", text: "bash: git push", unattended: true, rule } as const
    assert.deepInclude(outcome.event("PermissionRefused"), { ...wish, turnId: t(1) })
    assert.deepInclude(outcome.state, { refusals: 1, agentQuestions: [] })
    given([...working, { _tag: "AbortSession", sessionId, reason: "enough" }])
      .when(refused)
      .then([])
  })

  it.each(["network", "write"] as const)(
    "is none when the sandbox refuses, %s: it is told, and is not a permission",
    (sandbox) => {
      const outcome = given(working).when({ _tag: "RecordRefused", promptId: "x", text: "network: a.org", sandbox })
      assert.deepStrictEqual(outcome.types, ["PermissionRefused"])
      const wish = { role: "author", promptId: "x", text: "network: a.org", unattended: true, sandbox } as const
      assert.deepInclude(outcome.event("PermissionRefused"), wish)
      assert.deepInclude(outcome.state, { refusals: 0, agentQuestions: [] })
    }
  )

  it("that the first configured action cannot answer is left to the next one", () => {
    const question: SessionInput = { ...permission, kind: "question" }
    const outcome = givenWith({ actions: { onPrompt: ["approve", "reject"] } })(working).when(question)
    assert.match(outcome.event("AgentQuestionDecided").reply, /Decide for yourself/)
  })

  it("does not count towards the turn's actions when a configured action answers it, and its text is shortened", () => {
    const long: SessionInput = { ...permission, text: "x".repeat(1000) }
    const outcome = givenWith({ actions: { onPrompt: ["approve"] } })(working).when(long)
    assert.strictEqual(outcome.state.actionCount, 0)
    assert.strictEqual(outcome.event("ActionTaken").about?.length, 500)
  })
})
