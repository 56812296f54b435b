import { assert, describe, it } from "@effect/vitest"
import type { AssistantMessage, GlobalEvent, Part, Session } from "@opencode-ai/sdk/v2/client"
import { ActivityTracker, type Observed } from "../src/opencode/events/ActivityTracker.ts"
import { SessionFacts } from "../src/opencode/session/SessionFacts.ts"

type Payload = GlobalEvent["payload"]

const session = (id: string, parentID?: string): Payload => {
  const info: Session = {
    id,
    slug: id,
    projectID: "p",
    directory: "/work",
    title: id,
    version: "1",
    time: { created: 0, updated: 0 },
    ...(parentID === undefined ? {} : { parentID })
  }
  return { id: "e", type: "session.created", properties: { sessionID: id, info } }
}
const answer = (sessionID: string, id: string, parentID: string): Payload => {
  const info: AssistantMessage = {
    id,
    sessionID,
    role: "assistant",
    time: { created: 0 },
    parentID,
    modelID: "m",
    providerID: "p",
    mode: "build",
    agent: "build",
    path: { cwd: "/", root: "/" },
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
  }
  return { id: "e", type: "message.updated", properties: { sessionID, info } }
}
const part = (sessionID: string, part: Part): Payload => ({
  id: "e",
  type: "message.part.updated",
  properties: { sessionID, part, time: 0 }
})
const text = (sessionID: string, messageID: string, words: string, synthetic = false): Payload =>
  part(sessionID, { id: "prt", sessionID, messageID, type: "text", text: words, synthetic })
const delta = (sessionID: string, messageID: string, piece: string): Payload => ({
  id: "e",
  type: "message.part.delta",
  properties: { sessionID, messageID, partID: "prt", field: "text", delta: piece }
})
const bash = (sessionID: string, messageID: string, callID: string, input: Record<string, unknown> = {}): Payload =>
  part(sessionID, {
    id: "prt",
    sessionID,
    messageID,
    type: "tool",
    callID,
    tool: "bash",
    state: { status: "running", input, time: { start: 0 } }
  })
const step = (sessionID: string, messageID: string, input: number): Payload =>
  part(sessionID, {
    id: "prt",
    sessionID,
    messageID,
    type: "step-finish",
    reason: "stop",
    cost: 0.5,
    tokens: { input, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
  })
const status = (sessionID: string, it: { type: "busy" } | { type: "idle" } | Retry): Payload => ({
  id: "e",
  type: "session.status",
  properties: { sessionID, status: it }
})
interface Retry {
  readonly type: "retry"
  readonly attempt: number
  readonly message: string
  readonly next: number
}
const idle = (sessionID: string): Payload => ({ id: "e", type: "session.idle", properties: { sessionID } })

const allTold = (...events: ReadonlyArray<readonly [number, Payload]>): ReadonlyArray<Observed> => {
  const tracker = new ActivityTracker(new SessionFacts())
  return events.flatMap(([at, event]) => tracker.observe(event, at))
}
/** What is told of events that arrive at these times, apart from the words. */
const told = (...events: ReadonlyArray<readonly [number, Payload]>): ReadonlyArray<Observed> =>
  allTold(...events).filter(({ type }) => type !== "words")
/** The words alone. */
const wordsTold = (...events: ReadonlyArray<readonly [number, Payload]>): ReadonlyArray<string> =>
  allTold(...events).flatMap((event) => (event.type === "words" ? [`${event.kind} ${event.text}`] : []))
const types = (events: ReadonlyArray<Observed>) => events.map((event) => event.type)

describe("ActivityTracker", () => {
  it("reports a burst of a thousand text parts once a second", () => {
    const pieces = Array.from({ length: 1000 }, (_, i) => [i * 2, text("s", "a1", `${i}`)] as const)
    const events = told([0, answer("s", "a1", "u1")], ...pieces)
    assert.deepStrictEqual(types(events), ["working", "working"])
    assert.deepInclude(events[0], { sessionId: "s", causePromptId: "u1", evidence: "text" })
  })

  it("does not count a user's own message as activity", () => {
    assert.deepStrictEqual(told([0, text("s", "u1", "do it")], [1, answer("s", "a1", "u1")]), [])
  })

  it("reports work for another cause at once", () => {
    const events = told(
      [0, answer("s", "a1", "u1")],
      [1, text("s", "a1", "x")],
      [2, answer("s", "a2", "u2")],
      [3, text("s", "a2", "y")]
    )
    assert.deepStrictEqual(
      events.map((event) => "causePromptId" in event && event.causePromptId),
      ["u1", "u2"]
    )
  })

  it("reports each tool call once, with the tokens so far", () => {
    const events = told(
      [0, answer("s", "a1", "u1")],
      [1, bash("s", "a1", "c1")],
      [2, bash("s", "a1", "c1")],
      [3, step("s", "a1", 10)],
      [4, answer("s", "a2", "u1")],
      [5, step("s", "a2", 5)]
    )
    assert.deepStrictEqual(types(events), ["working", "progress", "progress", "progress"])
    assert.deepInclude(events[1], { tool: "bash" })
    assert.isTrue(events[3]?.type === "progress" && events[3].tokens.input === 15)
  })

  it("tells what the agent writes in order, gathered while it is fast, and all of it before a tool", () => {
    const words = wordsTold(
      [0, answer("s", "a1", "u1")],
      [0, text("s", "a1", "")],
      [1, delta("s", "a1", "First ")],
      [2, delta("s", "a1", "I ")],
      [3, delta("s", "a1", "look")],
      [400, delta("s", "a1", " at")],
      [401, delta("s", "a1", " it.")],
      [402, text("s", "a1", "First I look at it.")],
      [403, bash("s", "a1", "c1")]
    )
    assert.deepStrictEqual(words, ["text First ", "text I look at", "text  it."])
  })

  it("tells a text that comes as a whole, the rest of a text at the turn's end, and no words of subagents or people", () => {
    const words = wordsTold(
      [0, session("child", "s")],
      [0, text("s", "u1", "Do it.")],
      [0, answer("s", "a1", "u1")],
      [1, text("s", "a1", "All at once")],
      [2, answer("child", "c1", "p")],
      [3, text("child", "c1", "For my parent.")],
      [4, text("s", "a1", "All at once, and more.")],
      [5, idle("s")]
    )
    assert.deepStrictEqual(words, ["text All at once", "text , and more."])
  })

  it("reports what a tool works on, and the cost and the size of the context so far", () => {
    const events = told(
      [0, answer("s", "a1", "u1")],
      [1, step("s", "a1", 10)],
      [2, bash("s", "a1", "c1", { command: "npm test\n", description: "Tests" })]
    )
    assert.deepInclude(events.at(-1), { tool: "bash", argument: "npm test", cost: 0.5, contextTokens: 11 })
  })

  it("reports a subagent's work as its parent's, with the parent's cause", () => {
    const events = told(
      [0, session("s")],
      [0, session("child", "s")],
      [1, answer("s", "a1", "u1")],
      [2, answer("child", "c1", "child prompt")],
      [3, text("child", "c1", "x")],
      [4, status("child", { type: "idle" })],
      [4, idle("child")]
    )
    assert.deepStrictEqual(events, [{ type: "working", sessionId: "s", causePromptId: "u1", evidence: "text" }])
  })

  it("attributes the answers to OpenCode's own messages to the prompt before them", () => {
    const events = told(
      [0, answer("s", "a1", "u1")],
      [1, part("s", { id: "prt", sessionID: "s", messageID: "u2", type: "compaction", auto: true })],
      [2, answer("s", "a2", "u2")],
      [3, text("s", "u3", "Continue", true)],
      [4, answer("s", "a3", "u3")],
      [5, text("s", "a3", "on")]
    )
    assert.deepStrictEqual(events, [{ type: "working", sessionId: "s", causePromptId: "u1", evidence: "text" }])
  })

  it("reports the end once although OpenCode reports it twice", () => {
    const events = told(
      [0, status("s", { type: "busy" })],
      [1, answer("s", "a1", "u1")],
      [2, status("s", { type: "idle" })],
      [3, idle("s")],
      [4, idle("s")]
    )
    assert.deepStrictEqual(events, [{ type: "idle", sessionId: "s", causePromptId: "u1" }])
  })

  it("reports each retry of OpenCode and when it is due", () => {
    const retry: Retry = { type: "retry", attempt: 1, message: "slow down", next: 5000 }
    const events = told([1000, status("s", retry)], [1500, status("s", retry)])
    assert.deepStrictEqual(events, [
      {
        type: "failed",
        sessionId: "s",
        kind: "rate_limited",
        message: "slow down",
        recovering: true,
        retryAfterMs: 4000
      }
    ])
  })

  it("reports a failure as final and does not report an abort", () => {
    const failed = (name: "UnknownError" | "MessageAbortedError"): Payload => ({
      id: "e",
      type: "session.error",
      properties: { sessionID: "s", error: { name, data: { message: "why" } } }
    })
    assert.deepStrictEqual(told([0, failed("UnknownError")], [1, failed("MessageAbortedError")]), [
      { type: "failed", sessionId: "s", kind: "other", message: "why", recovering: false }
    ])
  })
})
