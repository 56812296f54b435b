import { assert, describe, it } from "@effect/vitest"
import type { AssistantMessage, Part } from "@opencode-ai/sdk/v2/client"
import { historyOf } from "../src/opencode/turn/history.ts"
import { causeOf, hasMadeRounds, type Listed, periodOf, subagentsOf, turnOf } from "../src/opencode/turn/turnOf.ts"

const tokens = { input: 10, output: 2, reasoning: 1, cache: { read: 5, write: 3 } }
const text = (words: string): Part => ({ id: "p", sessionID: "s", messageID: "m", type: "text", text: words })
const tool = (name: string, metadata: Record<string, unknown> = {}): Part => ({
  id: "p",
  sessionID: "s",
  messageID: "m",
  type: "tool",
  callID: "c1",
  tool: name,
  state: { status: "completed", input: { a: 1 }, output: "out", title: "", metadata, time: { start: 0, end: 1 } }
})
const user = (id: string, words = "do it"): Listed => ({
  info: {
    id,
    sessionID: "s",
    role: "user",
    time: { created: 0 },
    agent: "build",
    model: { providerID: "p", modelID: "m" }
  },
  parts: [text(words)]
})
const assistant = (parentID: string, fields: Partial<AssistantMessage>, ...parts: ReadonlyArray<Part>): Listed => ({
  info: {
    id: `after ${parentID}`,
    sessionID: "s",
    role: "assistant",
    time: { created: 0, completed: 1 },
    parentID,
    modelID: "m",
    providerID: "p",
    mode: "build",
    agent: "build",
    path: { cwd: "/", root: "/" },
    cost: 0.5,
    tokens,
    ...fields
  },
  parts
})
const open = { time: { created: 0 } }
const calls = { finish: "tool-calls" }
const stop = { finish: "stop" }

/** Written by OpenCode itself after it has shortened the conversation. */
const synthetic = (id: string): Listed => ({ ...user(id), parts: [{ ...text("Continue"), synthetic: true } as Part] })
const spokenAfter = (messages: ReadonlyArray<Listed>) => {
  const turn = turnOf(messages, "a")
  return turn._tag === "finished" && turn.outcome.spokenAfter === true
}

describe("messages that Reprise did not send", () => {
  const answered = [user("a"), assistant("a", stop, text("done"))]

  it("are newer than the turn when they follow its last answer, answered or not", () => {
    assert.isFalse(spokenAfter(answered))
    assert.isTrue(spokenAfter([...answered, user("h")]))
    assert.isTrue(spokenAfter([...answered, user("h"), assistant("h", stop, text("yes"))]))
  })

  it("belong to the turn when they came before its end", () => {
    const steered = [user("a"), assistant("a", calls), user("h"), assistant("h", stop, text("done"))]
    assert.isFalse(spokenAfter(steered))
    const turn = turnOf(steered, "a")
    assert.strictEqual(turn._tag === "finished" ? turn.outcome.answered : undefined, "h")
  })

  it("are not what OpenCode writes itself", () => {
    assert.isFalse(spokenAfter([...answered, synthetic("c")]))
    assert.strictEqual(causeOf([...answered, synthetic("c"), assistant("c", stop)], "c"), "a")
    assert.strictEqual(causeOf([...answered, user("h")], "h"), "h")
  })
})

describe("turnOf", () => {
  it("is absent for a prompt that OpenCode never took", () => {
    assert.deepStrictEqual(turnOf([user("a")], "b"), { _tag: "absent" })
  })

  it("is unfinished without an answer, and while the answer is written", () => {
    assert.strictEqual(turnOf([user("a")], "a")._tag, "unfinished")
    assert.strictEqual(turnOf([user("a"), assistant("a", open, text("hel"))], "a")._tag, "unfinished")
  })

  it("sums tokens, cost and tool calls over all messages and returns the text of the last", () => {
    const turn = turnOf(
      [user("a"), assistant("a", calls, text("I look"), tool("bash")), assistant("a", stop, text("done"))],
      "a"
    )
    assert.deepStrictEqual(turn, {
      _tag: "finished",
      outcome: {
        text: "done",
        stopReason: "finished",
        tokens: { input: 20, output: 4, reasoning: 2, cacheRead: 10, cacheWrite: 6 },
        cost: 1,
        toolCalls: 1,
        model: "p/m",
        finish: "stop",
        context: { tokens: 21 }
      }
    })
  })

  it("ends with its own answer even if later prompts follow", () => {
    const messages = [user("a"), assistant("a", stop, text("first")), user("b"), assistant("b", stop, text("second"))]
    const turn = turnOf(messages, "a")
    assert.isTrue(turn._tag === "finished" && turn.outcome.text === "first")
  })

  it("includes the answers to what a human added while it ran", () => {
    const messages = [user("a"), assistant("a", calls, tool("bash")), user("b"), assistant("b", stop, text("both"))]
    const turn = turnOf(messages, "a")
    assert.isTrue(turn._tag === "finished" && turn.outcome.text === "both")
  })

  it("is not ended by a summary", () => {
    const summary = assistant("x", { ...stop, summary: true }, text("so far"))
    assert.strictEqual(turnOf([user("a"), user("x"), summary], "a")._tag, "unfinished")
    const turn = turnOf([user("a"), user("x"), summary, user("y"), assistant("y", stop, text("on"))], "a")
    assert.isTrue(turn._tag === "finished" && turn.outcome.text === "on" && turn.outcome.tokens.input === 20)
  })

  it("is paused after tool calls, unfinished when one is still open, failed with an error", () => {
    assert.strictEqual(turnOf([user("a"), assistant("a", calls, tool("bash"))], "a")._tag, "paused")
    assert.strictEqual(turnOf([user("a"), assistant("a", open, tool("bash"))], "a")._tag, "unfinished")
    const aborted = { error: { name: "MessageAbortedError" as const, data: { message: "Aborted" } } }
    assert.strictEqual(turnOf([user("a"), assistant("a", aborted)], "a")._tag, "failed")
  })

  it("recognizes an answer that was cut off at its limit", () => {
    const turn = turnOf([user("a"), assistant("a", { finish: "length" }, text("and so"))], "a")
    assert.isTrue(turn._tag === "finished" && turn.outcome.stopReason === "output-limit")
  })

  it("lasts from its prompt to the message after its last answer", () => {
    const at = (created: number, message: Listed): Listed =>
      ({ ...message, info: { ...message.info, id: `m${created}`, time: { created } } }) as Listed
    const first = [at(1, user("a")), at(2, assistant("a", calls)), at(3, assistant("a", stop))]
    assert.deepStrictEqual(periodOf(first, "m1"), { fromMs: 1, untilMs: Number.POSITIVE_INFINITY })
    assert.deepStrictEqual(periodOf([...first, at(4, user("b"))], "m1"), { fromMs: 1, untilMs: 4 })
  })

  it("lists the sessions of its subagents once", () => {
    const task = tool("task", { sessionId: "ses_child" })
    assert.deepStrictEqual([...subagentsOf([user("a"), assistant("a", calls, task, task)], "a")], ["ses_child"])
  })
})

describe("historyOf", () => {
  it("puts each result after its call and leaves out empty messages", () => {
    const history = historyOf([user("a"), assistant("a", open), assistant("a", stop, tool("bash"), text("done"))])
    assert.deepStrictEqual(
      history.map(({ content, role }) => [role, content]),
      [
        ["user", [{ type: "text", text: "do it" }]],
        [
          "assistant",
          [
            { type: "tool_use", tool_use: { id: "c1", name: "bash", input: { a: 1 } } },
            { type: "tool_result", tool_result: { toolUseId: "c1", output: "out", isError: false } },
            { type: "text", text: "done" }
          ]
        ]
      ]
    )
  })
})

describe("the rounds of a turn", () => {
  const turn = [user("a"), assistant("a", calls), synthetic("s"), assistant("a", calls)]
  const rounds = (messages: ReadonlyArray<Listed>, id = "a") =>
    [1, 2, 3].filter((max) => hasMadeRounds(messages, id, max)).length

  it("are the calls of the model that ended with tool calls", () => {
    assert.strictEqual(rounds(turn), 2)
    assert.strictEqual(rounds([...turn, assistant("a", stop)]), 2)
    assert.strictEqual(rounds([...turn, assistant("a", stop), user("b"), assistant("b", calls)], "b"), 1)
    assert.strictEqual(rounds([]), 0)
  })

  it("are not cut off once somebody else has spoken, whose rounds are theirs", () => {
    assert.strictEqual(rounds([...turn, user("theirs", "and this"), assistant("theirs", calls)]), 0)
  })
})
