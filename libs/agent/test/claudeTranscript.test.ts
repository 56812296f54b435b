import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { projectFolder, textThrough } from "../src/claude/transcript/copy.ts"
import { historyOf } from "../src/claude/transcript/history.ts"
import { type Entry, entryOf, readLine } from "../src/claude/transcript/transcript.ts"
import { isAtRest, lastMessageOf, messageCountOf, turnOf } from "../src/claude/transcript/turnOf.ts"

const at = "2026-11-21T10:00:00.000Z"
const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output })

const user = (uuid: string, content: unknown, more: object = {}) => ({
  type: "user",
  uuid,
  timestamp: at,
  message: { role: "user", content },
  ...more
})
const said = (id: string, text: string, stop_reason: string | null = "end_turn", tokens = usage(10, 2)) => ({
  type: "assistant",
  uuid: `u-${id}-${text}`,
  timestamp: at,
  message: { id, role: "assistant", model: "m", content: [{ type: "text", text }], stop_reason, usage: tokens }
})
const called = (id: string, call: string) => ({
  type: "assistant",
  uuid: `u-${id}`,
  timestamp: at,
  message: {
    id,
    role: "assistant",
    model: "m",
    content: [{ type: "tool_use", id: call, name: "Bash", input: { command: "ls" } }],
    stop_reason: "tool_use",
    usage: usage(5, 1)
  }
})
const result = (call: string) => user(`r-${call}`, [{ type: "tool_result", tool_use_id: call, content: "a file" }])
const interrupted = user("i", [{ type: "text", text: "[Request interrupted by user for tool use]" }])
const filler = {
  type: "assistant",
  uuid: "f",
  timestamp: at,
  message: { id: "f", model: "<synthetic>", content: [{ type: "text", text: "No response requested." }] }
}
const vendorFailed = {
  type: "assistant",
  uuid: "e",
  timestamp: at,
  isApiErrorMessage: true,
  error: "rate_limit",
  apiErrorStatus: 429,
  message: { id: "e", model: "<synthetic>", content: [{ type: "text", text: "API Error" }] }
}
const cost = (totalCostUSD: number) => ({ type: "cost-state", totalCostUSD })

const written = (...lines: ReadonlyArray<unknown>) => lines.map((line) => JSON.stringify(line)).join("\n")
const entriesOf = (...lines: ReadonlyArray<unknown>): ReadonlyArray<Entry> =>
  lines.flatMap((line) => Option.toArray(Option.flatMap(readLine(JSON.stringify(line)), entryOf)))
const tagOf = (...lines: ReadonlyArray<unknown>) => turnOf(entriesOf(...lines), ["p", "p2"])._tag

describe("a Claude transcript", () => {
  it("shows the state of a turn", () => {
    assert.strictEqual(tagOf(), "absent")
    assert.strictEqual(tagOf(user("other", "hi"), said("a", "hello")), "absent")
    assert.strictEqual(tagOf(user("p", "go")), "open")
    assert.strictEqual(tagOf(user("p", "go"), filler), "open")
    assert.strictEqual(tagOf(user("p", "go"), called("a", "c")), "unfinished")
    assert.strictEqual(tagOf(user("p", "go"), called("a", "c"), result("c")), "unfinished")
    assert.strictEqual(tagOf(user("p", "go"), said("a", "hal", null)), "unfinished")
    assert.strictEqual(tagOf(user("p", "go"), called("a", "c"), result("c"), filler, user("p2", "on")), "open")
    assert.strictEqual(tagOf(user("p", "go"), called("a", "c"), interrupted), "interrupted")
    assert.strictEqual(tagOf(user("p", "go"), vendorFailed), "failed")
    assert.strictEqual(tagOf(user("p", "go"), said("a", "done")), "finished")
  })

  it("counts each message of a turn once, whatever its blocks, and no message of another turn", () => {
    const entries = entriesOf(
      cost(1),
      user("p", "go"),
      said("a", "I will ", "tool_use", usage(10, 1)),
      { ...called("a", "c"), message: { ...called("a", "c").message, usage: usage(10, 7) } },
      result("c"),
      cost(0.5),
      user("other", "and you?"),
      said("b", "fine", "end_turn", usage(100, 100)),
      cost(1.5),
      user("p2", "on"),
      said("d", "all ", null, usage(3, 1)),
      said("d", "done", "end_turn", usage(3, 4)),
      cost(1.75)
    )
    const turn = turnOf(entries, ["p", "p2"])
    assert.strictEqual(turn._tag, "finished")
    if (turn._tag !== "finished") return
    assert.strictEqual(turn.outcome.text, "all done")
    assert.strictEqual(turn.outcome.toolCalls, 1)
    assert.strictEqual(turn.outcome.tokens.input, 13)
    assert.strictEqual(turn.outcome.tokens.output, 11)
    assert.strictEqual(turn.outcome.cost, 0.25)
    assert.strictEqual(messageCountOf(entries), 6)
  })

  it("shows whether a turn was cut off by a limit or stopped for another reason", () => {
    const stopReason = (reason: string) => {
      const turn = turnOf(entriesOf(user("p", "go"), said("a", "x", reason)), ["p"])
      return turn._tag === "finished" ? turn.outcome.stopReason : turn._tag
    }
    assert.strictEqual(stopReason("end_turn"), "finished")
    assert.strictEqual(stopReason("max_tokens"), "output-limit")
    assert.strictEqual(stopReason("refusal"), "other")
    assert.strictEqual(stopReason("pause_turn"), "unfinished")
  })

  it("is at rest when the newest turn has ended, whoever prompted it", () => {
    assert.isTrue(isAtRest([]))
    assert.isFalse(isAtRest(entriesOf(user("h", "hi"))))
    assert.isFalse(isAtRest(entriesOf(user("h", "hi"), called("a", "c"))))
    assert.isTrue(isAtRest(entriesOf(user("h", "hi"), said("a", "x"))))
    assert.isTrue(isAtRest(entriesOf(user("h", "hi"), called("a", "c"), interrupted)))
  })

  it("names the last message and the prompt that caused it", () => {
    const nameOf = (uuid: string) => (uuid === "p" ? "msg_p" : uuid)
    const ours = lastMessageOf(entriesOf(user("p", "go"), said("a", "x")), nameOf)
    assert.deepInclude(ours.lastMessage, { id: "a", role: "assistant", causePromptId: "msg_p", finished: true })
    const theirs = lastMessageOf(entriesOf(user("p", "go"), said("a", "x"), user("h", "hi")), nameOf)
    assert.deepInclude(theirs.lastMessage, { id: "h", role: "user" })
  })

  it("is read without lines that are unknown or not about the conversation", () => {
    assert.deepStrictEqual(
      entriesOf(
        { type: "mode" },
        { type: "user", uuid: "m", timestamp: at, isMeta: true, message: { role: "user", content: "caveat" } },
        user("c", "<command-name>/usage</command-name>"),
        user("s", "the story so far", { isCompactSummary: true }),
        { type: "assistant", uuid: "x", timestamp: at, message: { content: 7 } }
      ),
      []
    )
    assert.isTrue(Option.isNone(readLine('{"type":"user","uu')))
  })

  it("becomes a history in which each result follows its call", () => {
    const text = written(user("p", "go"), called("a", "c"), result("c"), filler, said("b", "done"))
    const history = historyOf(text, () => "msg_p")
    assert.deepStrictEqual(
      history.map(({ content, id, role }) => [id, role, content.map(({ type }) => type)]),
      [
        ["msg_p", "user", ["text"]],
        ["a", "assistant", ["tool_use", "tool_result"]],
        ["b", "assistant", ["text"]]
      ]
    )
  })
})

describe("the copy of a Claude transcript", () => {
  const queued = { type: "queue-operation", operation: "enqueue", content: "p2", timestamp: at }
  const lines = [user("p1", "one"), said("a1", "first"), cost(1), queued, user("p2", "two"), said("a2", "second")]
  const transcript = `${written(...lines)}\n`

  it("ends with a turn's last answer and its cost, before what belongs to the next prompt", () => {
    assert.strictEqual(textThrough(transcript, new Set(["p1"])), `${written(...lines.slice(0, 3))}\n`)
  })

  it("has everything after the last turn", () => {
    assert.strictEqual(textThrough(transcript, new Set(["p2"])), transcript)
  })

  it("keeps a turn together that was continued by a further prompt", () => {
    assert.strictEqual(textThrough(transcript, new Set(["p1", "p2"])), transcript)
  })

  it("cannot be made up to a prompt that is not in it", () => {
    assert.isUndefined(textThrough(transcript, new Set(["p3"])))
  })

  it("is put where Claude looks for the directory, unless its path is too long to tell", () => {
    assert.strictEqual(projectFolder("/work/a_b.c"), "-work-a-b-c")
    assert.isUndefined(projectFolder(`/${"x".repeat(200)}`))
  })
})
