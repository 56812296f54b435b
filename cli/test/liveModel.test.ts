import { assert, describe, it } from "@effect/vitest"
import { LiveMessage, PhaseId, PublicEvent, RunId } from "@reprise/protocol"
import { Schema } from "effect"
import { eventLine } from "../src/views/eventLine.ts"
import { emptyModel, type LiveInput, type LiveModel, show } from "../src/views/live/LiveModel.ts"
import { clock, statusLines } from "../src/views/live/statusLines.ts"
import { noTokens } from "./support/views.ts"

const decodeEvent = Schema.decodeUnknownSync(PublicEvent)
const decodeLive = Schema.decodeUnknownSync(LiveMessage)

const turn = { runId: "r1", sessionId: "r1-s1", turnId: "r1-t1", role: "author" }
const used = { tokens: { ...noTokens, input: 1500, output: 500 }, cost: 0.25, calls: 1, duration: 1000, attempts: 1 }

/** What happens at this second. */
const event = (second: number, fields: Record<string, unknown>): LiveInput => {
  const read = decodeEvent({ runId: "r1", ...fields })
  return { _tag: "Event", event: read, line: eventLine(read), atMs: second * 1000 }
}
const live = (second: number, fields: Record<string, unknown>): LiveInput => ({
  _tag: "Live",
  message: decodeLive({ ...turn, ...fields }),
  atMs: second * 1000
})
const said = (second: number, text: string, part = "p1", kind = "text") =>
  live(second, { _tag: "AgentSaid", part, kind, text })

const working = [
  event(0, { _tag: "StepStarted", phase: "1", step: "EXECUTE", attempt: 1 }),
  event(1, { ...turn, _tag: "TurnStarted" })
]

const played = (inputs: ReadonlyArray<LiveInput>, verbose = false) => {
  const lines: Array<string> = []
  let model: LiveModel = emptyModel(0, verbose)
  for (const input of inputs) {
    const shown = show(model, input)
    model = shown.model
    lines.push(...shown.lines.map((line) => (line._tag === "said" ? `said: ${line.text}` : line.text)))
  }
  return { lines, model }
}

const surface = { faint: String, attention: String }

const bottom = (model: LiveModel, second: number, columns = 100, everyRun = false): ReadonlyArray<string> =>
  statusLines(model, { ...surface, nowMs: second * 1000, columns, everyRun, idle: "Starting" }).map(({ text }) =>
    text.replace(/^[^\sa-z] /, "")
  )
const bottomOf = (inputs: ReadonlyArray<LiveInput>, second: number, columns = 100) =>
  bottom(played(inputs).model, second, columns)

describe("the lines at the bottom", () => {
  const usage = {
    _tag: "UsageSoFar",
    tokens: { ...noTokens, input: 12_000, output: 345 },
    cost: 0.04,
    contextTokens: 34_000
  }
  it.each<[string, ReadonlyArray<LiveInput>, number, ReadonlyArray<string>]>([
    ["nothing happened yet", [], 2, ["Starting · 0:02"]],
    [
      "two things start side by side",
      [
        { _tag: "StepBegun", name: "Starting the broker", atMs: 0 },
        { _tag: "StepBegun", name: "Starting OpenCode", atMs: 500 }
      ],
      1.2,
      ["Starting the broker … 1.2 s · Starting OpenCode … 0.7 s"]
    ],
    ["an agent works in silence", working, 42, ["Author works on phase 1 · 0:42"]],
    [
      "an agent writes",
      [...working, said(2, "I will look\n  at the tests"), said(3, " first.")],
      4,
      ["    | I will look at the tests first.", "Author works on phase 1 · 0:04"]
    ],
    [
      "an agent reports",
      [...working, said(2, "All is well.\n```json\n"), said(3, `{ "summary": "${"long ".repeat(500)}"`)],
      4,
      ["    | All is well.", "Author works on phase 1 · 0:04"]
    ],
    [
      "an agent thinks",
      [...working, said(2, "Hm.", "p1", "reasoning")],
      4,
      ["    | thinking: Hm.", "Author works on phase 1 · 0:04"]
    ],
    [
      "a tool runs",
      [...working, said(2, "Now the tests."), live(3, { _tag: "ToolStarted", tool: "bash", argument: "npm test" })],
      75,
      ["Author works on phase 1 · 1:15 · bash npm test 1:12"]
    ],
    [
      "something was used",
      [...working, live(2, usage)],
      3,
      ["Author works on phase 1 · 0:03 · 12.3k tokens · context 34.0k · $0.04"]
    ],
    [
      "the size of the model's window is known from an earlier turn",
      [
        ...working,
        event(2, { ...turn, ...used, _tag: "TurnCompleted", report: "data", context: { tokens: 9, limit: 100_000 } }),
        event(3, { ...turn, turnId: "r1-t2", _tag: "TurnStarted" }),
        live(4, { ...usage, turnId: "r1-t2" })
      ],
      5,
      ["Author works on phase 1 · 0:05 · 14.3k tokens · context 34 % · $0.29"]
    ],
    [
      "a rate limit is waited out",
      [
        ...working,
        live(2, { _tag: "VendorAwaited", kind: "rate_limited", message: "429", until: "1970-01-01T00:01:30.000Z" })
      ],
      48,
      ["Author works on phase 1 · 0:48 · Rate limited, again in 0:42"]
    ],
    [
      "the wait is over",
      [
        ...working,
        live(2, { _tag: "VendorAwaited", kind: "rate_limited", message: "429", until: "1970-01-01T00:01:30.000Z" })
      ],
      91,
      ["Author works on phase 1 · 1:31 · Rate limited, trying again"]
    ],
    [
      "the turn is postponed, after its runtime has waited in vain",
      [
        ...working,
        live(2, { _tag: "VendorAwaited", kind: "rate_limited", message: "429", until: "1970-01-01T00:00:10.000Z" }),
        event(12, {
          ...turn,
          _tag: "AgentFailed",
          kind: "rate_limited",
          message: "429",
          until: "1970-01-01T00:01:30.000Z"
        })
      ],
      48,
      ["Author works on phase 1 · 0:48 · Rate limited, again in 0:42"]
    ],
    [
      "somebody does not want to wait",
      [
        ...working,
        event(2, {
          ...turn,
          _tag: "AgentFailed",
          kind: "rate_limited",
          message: "429",
          until: "1970-01-01T00:01:30.000Z"
        }),
        event(40, { ...turn, _tag: "TurnRetried" })
      ],
      48,
      ["Author works on phase 1 · 0:48"]
    ],
    [
      "a run is continued that waits for its model's vendor",
      [
        {
          _tag: "Continued",
          atMs: 0,
          run: {
            runId: RunId.make("r1"),
            step: "EXECUTE",
            phase: PhaseId.make("1"),
            postponed: { until: "1970-01-01T00:01:30.000Z", kind: "out_of_credits", message: "402" }
          }
        }
      ],
      48,
      ["Author works on phase 1 · 0:48 · Out of credit, again in 0:42"]
    ],
    [
      "the model answers again",
      [...working, live(2, { _tag: "VendorAwaited", kind: "no_internet", message: "x" }), said(3, "Yes")],
      4,
      ["    | Yes", "Author works on phase 1 · 0:04"]
    ],
    [
      "a human is needed",
      [
        ...working,
        event(5, {
          _tag: "EscalationRaised",
          escalationId: "r1-e1",
          origin: "author",
          reason: "Which colour?",
          options: [],
          evidence: {}
        })
      ],
      9,
      ["Author works on phase 1 · 0:04 · Your answer is needed"]
    ],
    [
      "a run is continued whose earlier events are not shown",
      [{ _tag: "Continued", run: { runId: RunId.make("r1"), step: "REVIEW", phase: PhaseId.make("2") }, atMs: 1000 }],
      9,
      ["Reviewing phase 2 · 0:08"]
    ],
    ["the run has ended", [...working, event(9, { _tag: "RunCompleted" })], 10, ["Finishing · 0:01"]]
  ])("say so while %s", (_when, inputs, second, lines) => {
    assert.deepStrictEqual(bottomOf(inputs, second), lines)
  })

  it("drop what does not fit, and never reach the last column", () => {
    const tool = live(3, { _tag: "ToolStarted", tool: "edit", argument: "src/components/日本語/index.tsx" })
    const { model } = played([
      ...working,
      live(2, usage),
      said(3, "🚀 ".repeat(200)),
      tool,
      said(4, "שלום 🚀 ".repeat(50), "p2")
    ])
    for (const columns of [10, 20, 40, 60, 80, 200]) {
      for (const line of statusLines(model, { ...surface, nowMs: 60_000, columns, everyRun: false, idle: "" })) {
        assert.isBelow(line.columns, columns, line.text)
      }
    }
    assert.deepStrictEqual(bottom(model, 60, 40).at(-1), "Author works on phase 1 · 1:00")
  })

  it("show what an agent sends to control the terminal, and do not execute it", () => {
    const tool = live(3, { _tag: "ToolStarted", tool: "bash", argument: "printf '\x1b[2J'" })
    const all = [bottomOf([...working, tool], 4), bottomOf([...working, said(2, "\x1b]0;owned\x07\u202e")], 4)].flat()
    assert.notMatch(all.join("\n"), /[^\P{Cc}\n]|\u202e/u)
    assert.include(all.join("\n"), "\\x1b[2J")
  })

  it("name their runs where several may be shown, and count those that have no room", () => {
    const inputs = Array.from({ length: 6 }, (_, n) => event(n, { ...working[0], runId: `r${n}`, _tag: "RunResumed" }))
    const lines = bottom(played(inputs).model, 10, 100, true)
    assert.deepStrictEqual(lines, [
      "r2 Working · 0:08",
      "r3 Working · 0:07",
      "r4 Working · 0:06",
      "r5 Working · 0:05",
      "  and 2 more"
    ])
  })

  it("say how many questions are open, where a key answers them", () => {
    const raised = (id: string) =>
      event(5, { _tag: "EscalationRaised", escalationId: id, origin: "author", reason: "", options: [], evidence: {} })
    const answered = { _tag: "EscalationAnswered", escalationId: "r1-e1", choice: "fix", by: "ada", via: "cli" }
    const asked: LiveInput = { _tag: "Asked", escalationIds: ["r1-e1"] }
    assert.deepStrictEqual(bottomOf([asked], 2), ["Starting · 0:02", "g = answer the open question"])
    assert.strictEqual(bottomOf([asked, raised("r1-e1")], 6).at(-1), "g = answer the open question")
    assert.strictEqual(bottomOf([asked, raised("r2-e1")], 6).at(-1), "g = answer 2 open questions")
    assert.strictEqual(bottomOf([asked, raised("r2-e1"), event(6, answered)], 6).at(-1), "g = answer the open question")
    const last = bottomOf([asked, event(6, answered)], 6).at(-1)
    assert.notInclude(last, "g =")
    assert.notInclude(bottomOf([raised("r1-e1")], 6).join("\n"), "g =", "no key answers")
  })
})

describe("the lines that stay", () => {
  it("are an agent's words when it goes over to something else, each of its tools, and the lines of events", () => {
    const { lines } = played([
      ...working,
      said(2, "Let me "),
      said(2, "look.", "p1"),
      live(3, { _tag: "ToolStarted", tool: "read", argument: "a.ts" }),
      event(3, { ...turn, _tag: "TurnProgress", tool: "read", tokens: noTokens }),
      live(4, { _tag: "ToolStarted", tool: "todowrite" }),
      said(5, "Hidden thoughts.", "p2", "reasoning"),
      said(6, "Done.", "p3"),
      event(7, { ...turn, ...used, _tag: "TurnCompleted", report: "data" })
    ])
    assert.deepStrictEqual(lines, [
      "  Author works on phase 1",
      "said: Let me look.",
      "    … read a.ts",
      "    … todowrite",
      "said: Done.",
      "    done in 1.0 s, 2.0k tokens"
    ])
  })

  it("are all words, line by line as they come, where everything is wanted", () => {
    const { lines } = played(
      [...working, said(2, "One\nTw"), said(3, "o\nThree"), said(4, "So.", "p2", "reasoning")],
      true
    )
    assert.deepStrictEqual(lines.slice(1), ["said: One", "said: Two", "said: Three"])
  })

  it("say where words were left out", () => {
    const { lines } = played(
      [...working, live(2, { _tag: "AgentSaid", part: "p1", kind: "text", text: "end\n", omitted: 900 })],
      true
    )
    assert.deepStrictEqual(lines.slice(1), ["said: \n… 900 characters …\nend"])
  })

  it("name tools from the stored events where the agent is not heard", () => {
    const { lines } = played([...working, event(3, { ...turn, _tag: "TurnProgress", tool: "read", tokens: noTokens })])
    assert.deepStrictEqual(lines.slice(1), ["    … read"])
  })

  it("say how long each part of the start took, if anybody could notice", () => {
    const { lines } = played([
      { _tag: "StepBegun", name: "Starting the broker", atMs: 0 },
      { _tag: "StepBegun", name: "Checking", atMs: 0 },
      { _tag: "StepDone", name: "Checking", atMs: 20 },
      { _tag: "StepDone", name: "Starting the broker", atMs: 340 }
    ])
    assert.deepStrictEqual(lines, ["Starting the broker took 0.3 s"])
  })

  it("are nothing but the event's line for a run that is over", () => {
    const { lines, model } = played([event(1, { _tag: "RunCompleted" }), event(2, { _tag: "WorkspaceReleased" })])
    assert.deepStrictEqual([lines, model.runs], [["Run completed"], []])
  })
})

describe("a clock", () => {
  it.each([
    [0, "0:00"],
    [42_999, "0:42"],
    [723_000, "12:03"],
    [3_723_000, "1:02:03"],
    [-5_000, "0:00"]
  ])("shows %d ms as %s", (ms, text) => {
    assert.strictEqual(clock(ms), text)
  })
})
