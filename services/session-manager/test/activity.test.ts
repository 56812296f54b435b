import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { attribute, graceLeft } from "../src/agent/activity.ts"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { answer, at, firstTurn, given, goodReport, nextTurn, sessionId, t } from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const human = { _tag: "ReportActivity", cause: "human", evidence: "tool bash" } as const
const idle = { _tag: "ReportIdle" } as const

describe("an agent that works", () => {
  const seen = (number: number): SessionInput => ({ _tag: "RecordWorking", turnId: t(1), number, evidence: "text" })

  it("in our turn is announced once", () => {
    const outcome = given(working).when(seen(1))
    assert.deepInclude(outcome.event("AgentWorking"), { cause: "turn", turnId: t(1), evidence: "text" })
    assert.strictEqual(outcome.state.status, "active")
    given([...working, seen(1)])
      .when(seen(1))
      .then([])
    given([...working, seen(1), answer(1, 1, "x")])
      .when(seen(2))
      .then([])
  })

  it("outside our turns is announced once, however much it does", () => {
    assert.deepInclude(given(firstTurn).when(human).event("AgentWorking"), { cause: "human", phase: "2" })
    given([...firstTurn, human])
      .when(human)
      .then([])
  })

  it("is announced as idle once, and may be announced as working again", () => {
    assert.deepStrictEqual(
      given([...firstTurn, human])
        .when(idle)
        .published.map((event) => event._tag),
      ["AgentIdle"]
    )
    given([...firstTurn, human, idle])
      .when(idle)
      .then([])
    assert.deepInclude(
      given([...firstTurn, human, idle])
        .when(human)
        .event("AgentWorking"),
      { cause: "human" }
    )
  })

  it("is known by its newest prompt once it is idle", () => {
    const rested = given([...firstTurn, human]).when({ ...idle, promptId: "msg_human" })
    assert.strictEqual(rested.state.knownPromptIds.at(-1), "msg_human")
  })

  it("is known by an earlier prompt again once that is the newest", () => {
    const rested = (promptId: string): SessionInput => ({ ...idle, promptId })
    const history = [...firstTurn, human, rested("msg_a"), human, rested("msg_b"), human]
    assert.deepStrictEqual(given(history).when(rested("msg_a")).state.knownPromptIds.slice(-2), ["msg_b", "msg_a"])
  })

  it("is known by its only prompt, too", () => {
    const { state } = given([...working, answer(1, 1, goodReport)])
    assert.lengthOf(viewOf(state)?.knownPromptIds ?? [], 1)
  })

  it("is looked at at once when its human hands the session back, and not when there is nothing to hand back", () => {
    const handBack = { _tag: "HandBack", sessionId } as const
    const works = given([...firstTurn, human]).when(handBack)
    assert.deepStrictEqual(works.types, ["HandedBack"])
    assert.deepStrictEqual(
      works.work.map((one) => one._tag === "RequestWork" && one.work._tag),
      ["HandBack"]
    )
    assert.deepStrictEqual(given([...firstTurn, nextTurn(2)]).when(handBack).types, ["HandedBack"])
    given([...firstTurn, human, idle])
      .when(handBack)
      .then([])
    given([])
      .when(handBack)
      .refused(/no session/)
  })

  it("wakes a paused session", () => {
    const pause: SessionInput = { _tag: "PauseIdle", useCount: given(firstTurn).state.useCount }
    assert.strictEqual(given([...firstTurn, pause]).when(human).state.status, "active")
  })

  it("is not announced a second time during a turn, nor after the session's end", () => {
    given(working).when(human).then([])
    given([...firstTurn, { _tag: "CompleteSession", sessionId }])
      .when(human)
      .then([])
    given([]).when(human).then([])
  })

  it("keeps its session from being paused", () => {
    const state = given([...firstTurn, human]).state
    given([...firstTurn, human])
      .when({ _tag: "PauseIdle", useCount: state.useCount })
      .then([])
  })
})

describe("an agent that asks", () => {
  const permission = {
    _tag: "RecordAgentQuestion",
    promptId: "per_1",
    kind: "permission",
    text: "bash: rm -r build",
    options: [
      { name: "once", label: "Allow once" },
      { name: "always", label: "Always allow" },
      { name: "reject", label: "Reject" }
    ]
  } as const satisfies SessionInput
  const asking = [...working, permission]
  const reply = (promptId: string, text: string): SessionInput => ({
    _tag: "ReplyToPrompt",
    sessionId,
    promptId,
    reply: text
  })

  it("is announced once, with its own options", () => {
    assert.deepInclude(given(working).when(permission).event("AgentPrompting"), {
      promptId: "per_1",
      kind: "permission",
      options: permission.options
    })
    given(asking).when(permission).then([])
  })

  it("has no open question once it is idle, because its runtime lost the question", () => {
    const outcome = given([...firstTurn, human, permission]).when(idle)
    assert.deepStrictEqual(outcome.types, ["ActivityNoted", "AgentQuestionClosed", "AgentIdle"])
    assert.deepStrictEqual(outcome.state.agentQuestions, [])
  })

  it("gets the answer in the same prompt", () => {
    const outcome = given(asking).when(reply("per_1", "once"), at(60), "run.r1.9.0")
    assert.deepStrictEqual(outcome.types, ["AgentQuestionAnswered"])
    assert.deepInclude(outcome.work[0]?.work, {
      _tag: "SendReply",
      runtimeSessionId: "ses_1",
      promptId: "per_1",
      kind: "permission",
      reply: "once"
    })
  })

  it("gets what a human says with a rejection in the same reply, also after its runtime lost the question", () => {
    const message = "Use the other directory."
    const rejected: SessionInput = { _tag: "ReplyToPrompt", sessionId, promptId: "per_1", reply: "reject", message }
    const told = { _tag: "SendReply", reply: "reject", message } as const
    assert.deepInclude(given(asking).when(rejected).work[0]?.work, told)
    const lost: SessionInput = { ...permission, promptId: "per_9" }
    assert.deepInclude(given([...asking, rejected]).when(lost).work[0]?.work, { ...told, promptId: "per_9" })
  })

  it("is announced as working for a human when somebody answers outside the gate, which makes the escalation moot", () => {
    const outcome = given(asking).when(reply("per_1", "once"), at(60), "a-bot-1")
    assert.deepStrictEqual(outcome.types, ["AgentQuestionAnswered", "AgentWorking"])
    assert.deepInclude(outcome.event("AgentWorking"), { cause: "human", turnId: t(1) })
    assert.deepInclude(outcome.work[0]?.work, { _tag: "SendReply", promptId: "per_1" })
  })

  const again = { ...permission, promptId: "per_9" } as const satisfies SessionInput

  it("may repeat a question that its runtime lost: the open one stays, and its answer goes to the repeated one", () => {
    const outcome = given(asking).when(again)
    assert.deepStrictEqual(outcome.types, ["AgentQuestionRepeated"])
    assert.deepStrictEqual(outcome.work, [])
    assert.deepInclude(given([...asking, again]).when(reply("per_1", "once")).work[0]?.work, {
      _tag: "SendReply",
      promptId: "per_9",
      reply: "once"
    })
  })

  it("keeps the question that it asked last, also when the report of the one that its runtime lost is decided after it", () => {
    const last = { ...again, earlier: ["per_1"] } as const
    const lost: SessionInput = { _tag: "RecordAgentQuestionGone", promptId: "per_1" }
    const asked = given([...working, last])
    assert.deepStrictEqual(asked.state.agentQuestions, given([...working, last, permission, lost]).state.agentQuestions)
    assert.deepInclude(given([...working, last, permission, lost]).when(reply("per_9", "once")).work[0]?.work, {
      _tag: "SendReply",
      promptId: "per_9"
    })
    assert.deepStrictEqual(given([...asking, last]).when(lost).types, [])
    assert.deepStrictEqual(
      given([...working, last]).when({ ...permission, text: "bash: ls" }).types,
      ["AgentPrompting"],
      "another question"
    )
  })

  it("gets an answer that was given while its runtime was away as soon as it repeats the question", () => {
    const outcome = given([...asking, reply("per_1", "once")]).when(again)
    assert.deepInclude(outcome.work[0]?.work, { _tag: "SendReply", promptId: "per_9", reply: "once" })
    given([...asking, reply("per_1", "once"), again])
      .when(again)
      .then([])
  })

  it("may ask the same question again once the first answer has arrived", () => {
    const closed = [...asking, reply("per_1", "once"), { _tag: "RecordAgentQuestionGone", promptId: "per_1" } as const]
    assert.deepStrictEqual(given(closed).when(again).types, ["AgentPrompting"])
  })

  it("takes only the first answer, and only one of its options", () => {
    given([...asking, reply("per_1", "once")])
      .when(reply("per_1", "reject"))
      .refused(/the first answer holds/)
    given(asking)
      .when(reply("per_1", "maybe"))
      .refused(/choose once, always, reject/)
    given(asking)
      .when(reply("per_2", "once"))
      .refused(/was answered, or is gone/)
  })

  it("takes any text that is not empty as the answer to a question", () => {
    const question: SessionInput = { ...permission, promptId: "que_1", kind: "question" }
    assert.deepInclude(given([...working, question]).when(reply("que_1", "blue, please")).work[0]?.work, {
      reply: "blue, please"
    })
    given([...working, question])
      .when(reply("que_1", " "))
      .refused(/empty/)
  })

  const gone = { _tag: "RecordAgentQuestionGone", promptId: "per_1" } as const

  it("is announced as working for a human when it was answered in the runtime itself", () => {
    const outcome = given(asking).when(gone)
    assert.deepInclude(outcome.event("AgentWorking"), { cause: "human", turnId: t(1) })
    assert.deepStrictEqual(outcome.state.agentQuestions, [])
  })

  it("continues without an announcement when it got our answer", () => {
    assert.deepStrictEqual(given([...asking, reply("per_1", "once")]).when(gone).types, ["AgentQuestionClosed"])
    given(working).when(gone).then([])
  })

  it("has no open question once its turn is over", () => {
    const over = [...asking, answer(1, 1, "x"), answer(1, 2, goodReport)]
    given(over).when(reply("per_1", "once")).refused(/per_1/)
    assert.deepStrictEqual(given([...over, nextTurn(2)]).state.agentQuestions, [])
  })
})

describe("activity", () => {
  it.each([
    ["of our prompt is ours, always", { causePromptId: "m", causeIsOurs: true, live: false }, "ours"],
    ["of another prompt is a human's", { causePromptId: "m", causeIsOurs: false, live: false }, "human"],
    ["of another prompt beside ours is a human's", { causePromptId: "m", causeIsOurs: false, live: true }, "human"],
    ["without a cause while our prompt runs is ours", { causeIsOurs: false, live: true }, "ours"],
    [
      "without a cause soon after ours is of unknown origin",
      { causeIsOurs: false, live: false, msSinceOurs: 59_000 },
      "unknown"
    ],
    [
      "without a cause long after ours is the agent's",
      { causeIsOurs: false, live: false, msSinceOurs: 60_000 },
      "agent"
    ],
    ["without a cause where we never prompted is the agent's", { causeIsOurs: false, live: false }, "agent"]
  ] as const)("%s", (_title, seen, whose) => {
    assert.strictEqual(attribute(seen), whose)
  })
})

describe("the grace before an agent counts as idle", () => {
  it.each([
    ["is whole right after activity", 1_000, 10_000],
    ["counts from the newest activity", 8_000, 3_000],
    ["is over once it has passed", 12_000, 0],
    ["is no longer than set when the clock was set back", 0, 10_000]
  ] as const)("%s", (_title, nowMs, leftMs) => {
    assert.strictEqual(Duration.toMillis(graceLeft(1_000, nowMs, Duration.seconds(10))), leftMs)
  })
})
