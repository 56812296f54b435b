import type { PermissionOption, SessionUpdate, ToolCallUpdate } from "@agentclientprotocol/sdk"
import { assert, describe, it } from "@effect/vitest"
import { noTokens } from "@reprise/protocol"
import { Effect, Option } from "effect"
import { Conversation, holds, partsOf } from "../src/acp/conversation/Conversation.ts"
import { answerTo, historyOf, lastMessageOf } from "../src/acp/conversation/history.ts"
import { goOnText, readMark, withMark } from "../src/acp/conversation/marker.ts"
import { kindOfRefusal, wordsOf } from "../src/acp/failures.ts"
import { LiveTurn, type Told } from "../src/acp/session/AcpSession.ts"
import { currentModel, modelOption, valuesOf } from "../src/acp/session/configOptions.ts"
import {
  allowing,
  isApproved,
  isUnclear,
  optionOf,
  permissionPrompt,
  rejecting,
  toolRequestOf
} from "../src/acp/turn/acpPermissions.ts"
import { contentOf, decodeForm, formPrompt } from "../src/acp/turn/elicitation.ts"
import { keepTotals, observe } from "../src/acp/turn/observe.ts"
import { promptEnd, stopReasonOf } from "../src/acp/turn/outcome.ts"
import { nothingProtected } from "../src/isInside.ts"

const said = (kind: "user_message_chunk" | "agent_message_chunk", text: string, messageId?: string): SessionUpdate => ({
  sessionUpdate: kind,
  content: { type: "text", text },
  ...(messageId === undefined ? {} : { messageId })
})
const user = (text: string, id?: string) => said("user_message_chunk", text, id)
const agent = (text: string, id?: string) => said("agent_message_chunk", text, id)
const tool = (id: string, status: "pending" | "completed" | "failed", output = ""): SessionUpdate => ({
  sessionUpdate: status === "pending" ? "tool_call" : "tool_call_update",
  toolCallId: id,
  title: "bash",
  status,
  rawInput: { command: "ls" },
  content: [{ type: "content", content: { type: "text", text: output } }]
})

const conversationOf = (...updates: ReadonlyArray<SessionUpdate>) => {
  const conversation = new Conversation()
  for (const update of updates) conversation.apply(update)
  return conversation.entries
}

describe("the mark in a prompt", () => {
  it("is read back, and the text without it", () => {
    assert.deepStrictEqual(readMark(withMark("Do it.\nNow.", "msg_1", 2)), {
      text: "Do it.\nNow.",
      messageId: "msg_1",
      n: 2
    })
  })

  it.each(["Do it.", "[reprise msg_1 0] and more", "[reprise msg_1]"])("is not in %j", (text) => {
    assert.isUndefined(readMark(text))
  })
})

describe("a conversation", () => {
  it("joins pieces of one message, and parts messages by their ids", () => {
    const entries = conversationOf(user("a"), agent("b", "1"), agent("c", "1"), agent("d", "2"))
    assert.deepStrictEqual(
      entries.map(({ kind, ...rest }) => [kind, "text" in rest ? rest.text : ""]),
      [
        ["user", "a"],
        ["text", "bc"],
        ["text", "d"]
      ]
    )
  })

  it("knows which prompts its agent was given", () => {
    const entries = conversationOf(user(withMark("work", "msg_1", 0)), agent("done"))
    assert.isTrue(holds(entries, "msg_1"))
    assert.isFalse(holds(entries, "msg_2"))
    assert.isFalse(holds(conversationOf(user("work")), "msg_1"))
  })

  it("is told in messages whose ids are the same each time, without the words that only continue a turn", () => {
    const entries = conversationOf(
      user(withMark("work", "msg_1", 0)),
      tool("t1", "pending"),
      tool("t1", "completed", "out"),
      agent("half", "m1"),
      user(withMark(goOnText, "msg_1", 1)),
      agent("done", "m2"),
      user("and I say")
    )
    const history = historyOf(entries)
    assert.deepStrictEqual(
      history.map(({ content, id, role }) => [id, role, content.map(({ type }) => type)]),
      [
        ["msg_1", "user", ["text"]],
        ["msg_1-answer-0", "assistant", ["tool_use", "tool_result", "text"]],
        ["msg_1-answer-1", "assistant", ["text"]],
        ["said-2", "user", ["text"]]
      ]
    )
    assert.deepStrictEqual(history, historyOf([...entries]))
    assert.deepStrictEqual(answerTo(entries, "msg_1"), { text: "done", toolCalls: 1, spokenAfter: true })
    assert.deepStrictEqual(lastMessageOf(entries, () => true, 7).lastMessage, {
      id: "said-2",
      role: "user",
      finished: true,
      atMs: 7
    })
    assert.strictEqual(partsOf(entries).filter(({ own }) => own).length, 2)
  })

  it.each([
    ["pending", ["tool_use"]],
    ["failed", ["tool_use", "tool_result"]]
  ] as const)("tells a tool that is %s", (status, types) => {
    const [, message] = historyOf(conversationOf(user("go"), tool("t", "pending"), tool("t", status)))
    assert.deepStrictEqual(
      message?.content.map(({ type }) => type),
      [...types]
    )
  })
})

const call = (given: Partial<ToolCallUpdate>): ToolCallUpdate => ({ toolCallId: "t", title: "a tool", ...given })

describe("an empty piece of text", () => {
  it("is not a message", () => {
    assert.strictEqual(historyOf(conversationOf(user("Do it."), agent(""), tool("t", "completed"))).length, 2)
  })
})

describe("what an agent asks for", () => {
  it.effect.each<readonly [Partial<ToolCallUpdate>, string, unknown]>([
    [{ kind: "execute", rawInput: { command: "ls -l" } }, "command", "ls -l"],
    [{ kind: "execute", rawInput: {} }, "tool", "a tool"],
    [{ kind: "fetch", rawInput: { url: "https://example.org" } }, "address", "https://example.org"],
    [{ kind: "read", rawInput: { filePath: "a.txt" } }, "read", ["a.txt"]],
    [{ kind: "edit", rawInput: { filepath: "a.txt" }, locations: [{ path: "b.txt" }] }, "change", ["a.txt", "b.txt"]],
    [{ kind: "edit", content: [{ type: "diff", path: "c.txt", newText: "" }] }, "change", ["c.txt"]],
    [{ kind: "edit", rawInput: { filepath: "a.txt, .git/hooks/x" } }, "tool", "a tool"],
    [{ kind: "edit" }, "tool", "a tool"],
    [{ kind: "other", rawInput: { filepath: "/etc/passwd", parentDir: "/etc" } }, "read", ["/etc/passwd"]],
    [{ kind: "other", rawInput: { path: "a.txt" } }, "tool", "a tool"],
    [{ kind: "other", rawInput: { command: "ls /etc", directories: ["/etc"] } }, "command", "ls /etc"],
    [{ rawInput: { command: "ls" } }, "tool", "a tool"]
  ])("is %j in the words of rules", ([given, kind, what]) =>
    Effect.gen(function* () {
      const request = yield* Effect.promise(() =>
        toolRequestOf(call(given), { directory: "/no/such/folder", protectedPaths: nothingProtected })
      )
      const named =
        request.kind === "command"
          ? request.command
          : request.kind === "address"
            ? request.url
            : request.kind === "tool"
              ? request.name
              : request.places.map(({ name }) => name)
      assert.deepStrictEqual([request.kind, named], [kind, what])
    })
  )

  it("is unclear where rules hold back something that it does not name", () => {
    const held = { commands: true, files: false, addresses: false }
    const unnamed = { kind: "tool", name: "x" } as const
    assert.isTrue(isUnclear(call({ kind: "execute" }), unnamed, held))
    assert.isFalse(isUnclear(call({ kind: "edit" }), unnamed, held))
    assert.isTrue(isUnclear(call({ kind: "edit" }), unnamed, { ...held, files: true }))
    assert.isFalse(isUnclear(call({ kind: "execute" }), { kind: "command", command: "ls" }, held))
  })

  it.effect.each([
    ["ask", false],
    ["workspace", false],
    ["all", true]
  ] as const)("is allowed in mode %s as a tool that rules do not know: %s", ([permissions, allowed]) =>
    Effect.gen(function* () {
      const session = { permissions, directory: "/no/such/folder", protectedPaths: nothingProtected }
      const approved = yield* Effect.promise(() => isApproved({ kind: "tool", name: "x" }, session))
      assert.strictEqual(approved, allowed)
    })
  )

  it.effect.each([
    ["ask", false, false],
    ["ask", true, true],
    ["workspace", false, false],
    ["workspace", true, true]
  ] as const)("is a command, which mode %s allows if it runs in the sandbox: %s", ([permissions, sandboxed, allowed]) =>
    Effect.gen(function* () {
      const session = { permissions, directory: "/no/such/folder", protectedPaths: nothingProtected }
      const request = { kind: "command", command: "npm test" } as const
      assert.strictEqual(yield* Effect.promise(() => isApproved(request, session, sandboxed)), allowed)
    })
  )

  it.effect.each([
    ["new", true],
    ["support/new", false]
  ] as const)("is a change of %s, where commands may not change 'support': %s", ([name, allowed]) =>
    Effect.gen(function* () {
      const directory = import.meta.dirname
      const protectedPaths = () => Promise.resolve([`${directory}/support`])
      const session = { permissions: "ask", directory, protectedPaths } as const
      const edit = call({ kind: "edit", rawInput: { filepath: name } })
      const request = yield* Effect.promise(() => toolRequestOf(edit, session))
      assert.strictEqual(yield* Effect.promise(() => isApproved(request, session, true)), allowed)
      assert.strictEqual(request.kind === "change" && request.places[0]?.guarded, !allowed)
    })
  )

  it("is shown with its subject", () => {
    const at = { sessionId: "s", causePromptId: "p" }
    const texts = [
      call({ kind: "execute", title: "ls -l", rawInput: { command: "ls -l" } }),
      call({ kind: "read", title: "read", rawInput: { filePath: "a.txt" } })
    ].map((it) => permissionPrompt("id", it, [], at).text)
    assert.deepStrictEqual(texts, ["execute: ls -l", "read: read: a.txt"])
  })
})

describe("an agent's options", () => {
  const option = (optionId: string, kind: PermissionOption["kind"]): PermissionOption => ({ optionId, name: "", kind })

  it("are chosen by their kind, whatever their ids say", () => {
    const options = [option("reject", "allow_once"), option("allow", "reject_once")]
    assert.strictEqual(optionOf(options, allowing), "reject")
    assert.strictEqual(optionOf(options, rejecting), "allow")
  })

  it("never grant for good, and refuse for good where nothing else is offered", () => {
    const options = [option("a", "allow_always"), option("r", "reject_always")]
    assert.isUndefined(optionOf(options, allowing))
    assert.strictEqual(optionOf(options, rejecting), "r")
  })
})

describe("the end of a prompt", () => {
  it.each([
    ["end_turn", "finished"],
    ["max_tokens", "output-limit"],
    ["max_turn_requests", "output-limit"],
    ["refusal", "other"],
    ["something new", "other"]
  ] as const)("%s is %s", (finish, reason) => assert.strictEqual(stopReasonOf(finish), reason))

  it("has the tokens that are told, and none where none are", () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 9, cachedReadTokens: 6, thoughtTokens: null }
    assert.deepStrictEqual(promptEnd({ stopReason: "end_turn", usage })?.tokens, {
      ...noTokens,
      input: 1,
      output: 2,
      cacheRead: 6
    })
    assert.deepStrictEqual(promptEnd({ stopReason: "end_turn" })?.tokens, noTokens)
    const ofGemini = { quota: { token_count: { input_tokens: 3, output_tokens: 4 } } }
    const told = promptEnd({ stopReason: "end_turn", _meta: ofGemini })
    assert.deepStrictEqual(told?.tokens, { ...noTokens, input: 3, output: 4 })
    assert.isUndefined(promptEnd({}))
    assert.isUndefined(promptEnd(null))
  })
})

describe("an agent's error", () => {
  it.each([
    [-32_000, "Authentication required", "unauthorized"],
    [-32_002, "Resource not found", "session-missing"],
    [-32_603, "Internal error: Unauthorized: key", "unauthorized"],
    [-32_603, "HTTP 429, too many requests", "rate_limited"],
    [-32_603, "Your credit balance is too low", "out_of_credits"],
    [-32_603, "maximum context length is 128000 tokens", "context-overflow"],
    [-32_603, "connect ECONNREFUSED", "no_internet"],
    [500, "terminated", "no_internet"],
    [401, "No key", "unauthorized"],
    [429, "Later", "rate_limited"],
    [402, "Pay", "out_of_credits"],
    [500, "Internal error", "other"],
    [-32_603, "Internal error", "other"]
  ] as const)("%i %s is %s", (code, message, kind) => assert.strictEqual(kindOfRefusal({ code, message }), kind))
})

describe("the words of an agent's error", () => {
  it.each([
    [undefined, "Internal error"],
    [{ details: "401 key" }, "Internal error: 401 key"],
    [{ details: 401 }, "Internal error"]
  ])("with the data %j are '%s'", (data, words) => {
    assert.strictEqual(wordsOf({ message: "Internal error", data }), words)
  })
})

describe("an agent's form", () => {
  const form = Option.getOrThrow(
    decodeForm({
      mode: "form",
      sessionId: "s",
      message: "Some things",
      requestedSchema: {
        type: "object",
        properties: {
          colour: { type: "string", title: "Colour", enum: ["red", "green"] },
          sure: { type: "boolean", title: "Sure?" },
          sizes: { type: "array", title: "Sizes", items: { anyOf: [{ const: "s", title: "Small" }] } },
          count: { type: "integer", title: "Count" }
        }
      }
    })
  )

  it("is a question for each field", () => {
    const { questions, text } = formPrompt("id", form, { sessionId: "s", causePromptId: "p" })
    assert.strictEqual(text, "Some things\nColour\nSure?\nSizes\nCount")
    assert.deepStrictEqual(
      questions.map(({ multiple, options }) => [multiple, options.map(({ label, name }) => `${name}=${label}`)]),
      [
        [false, ["red=red", "green=green"]],
        [false, ["yes=yes", "no=no"]],
        [true, ["s=Small"]],
        [false, []]
      ]
    )
  })

  it("is answered with values of its fields' types, without those that have none", () => {
    assert.deepStrictEqual(contentOf(form, [["red"], ["no"], ["s"], ["3"]]), {
      colour: "red",
      sure: false,
      sizes: ["s"],
      count: 3
    })
    assert.deepStrictEqual(contentOf(form, [["red"], [], [], ["many"]]), { colour: "red" })
  })

  it("is not an address to visit", () => {
    const url = { mode: "url", sessionId: "s", message: "m", elicitationId: "e", url: "https://example.org" }
    assert.isTrue(Option.isNone(decodeForm(url)))
  })
})

describe("an agent's updates", () => {
  const at = { sessionId: "s", causePromptId: "p" }

  it("tell work at most once a second, and its words", () => {
    const live = new LiveTurn("p")
    const events = [1000, 1200, 2100].flatMap((nowMs) => observe(agent("x"), live, at, nowMs))
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["working", "words", "words", "working", "words"]
    )
  })

  it("tell a tool once, with what it works on", () => {
    const live = new LiveTurn("p")
    const running: SessionUpdate = {
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      kind: "execute",
      status: "in_progress",
      rawInput: { command: "ls" }
    }
    const events = [...observe(running, live, at, 1), ...observe(running, live, at, 2)]
    assert.deepStrictEqual(
      events.filter(({ type }) => type === "progress"),
      [{ type: "progress", ...at, tool: "execute", argument: "ls", tokens: noTokens }]
    )
  })

  it("keep the totals of a session", () => {
    const totals: Told = { cost: 1 }
    keepTotals({ sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 2, currency: "USD" } }, totals)
    keepTotals({ sessionUpdate: "usage_update", used: 0, size: 100, cost: { amount: 9, currency: "EUR" } }, totals)
    assert.deepStrictEqual(totals, { cost: 2, contextTokens: 10, contextSize: 100 })
  })
})

describe("an agent's models", () => {
  it("are the values of its option for models, in groups or not", () => {
    const option = (options: Array<object>) =>
      ({ id: "model", name: "Model", type: "select", category: "model", currentValue: "a/b", options }) as never
    const plain = [option([{ value: "a/b", name: "" }])]
    const grouped = [option([{ group: "g", name: "", options: [{ value: "a/b", name: "" }] }])]
    for (const options of [plain, grouped]) {
      const found = modelOption(options)
      assert.deepStrictEqual(found === undefined ? [] : valuesOf(found), ["a/b"])
      assert.strictEqual(currentModel(options), "a/b")
    }
    assert.isUndefined(currentModel([]))
  })
})
