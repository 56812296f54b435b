import { assert, describe, it } from "@effect/vitest"
import type { EscalationView } from "@reprise/protocol"
import { ago, closingText, dollars, short, shortened, span, titleText } from "../src/data/format.ts"
import { visible } from "../src/parts/visible.ts"

const now = Date.UTC(2026, 0, 2, 10, 0, 0)
const question = (more: Partial<EscalationView>) => ({ state: "open", evidence: {}, ...more }) as EscalationView

describe("numbers and times for people", () => {
  it.each([
    [0, "0 s"],
    [59_400, "59 s"],
    [61_000, "1 min"],
    [3_700_000, "1 h 1 min"],
    [3 * 24 * 3_600_000, "3 days"]
  ])("writes %d ms as %s", (ms, text) => assert.strictEqual(span(ms), text))

  it("writes a time that is in the future by a wrong clock as now", () =>
    assert.strictEqual(ago(new Date(now + 5_000).toISOString(), now), "just now"))

  it.each([
    [999, "999"],
    [12_345, "12.3k"],
    [2_000_000, "2.0M"]
  ])("writes %d as %s", (n, text) => assert.strictEqual(short(n), text))

  it("does not write a small cost as none", () => assert.strictEqual(dollars(0.001), "< $0.01"))
})

describe("how a question was closed", () => {
  it.each<[string, Partial<EscalationView>, string | undefined]>([
    ["nothing of an open one", {}, undefined],
    [
      "who answered what, and through what",
      { state: "answered", by: "ada", choice: "fix", via: "terminal", closedAt: new Date(now - 120_000).toISOString() },
      "Answered: ada chose “fix” through terminal, 2 min ago."
    ],
    [
      "that an answer came too late",
      { state: "answered", by: "ada", choice: "fix", overruledFor: "agent-working" },
      "Answered: ada chose “fix”. The run continued without it: the agent is working again."
    ],
    [
      "why nobody has to answer it",
      { state: "withdrawn", withdrawnFor: "superseded" },
      "This question is closed: a newer question replaces it."
    ]
  ])("says %s", (_what, more, text) => assert.strictEqual(closingText(question(more), now), text))
})

describe("untrusted text", () => {
  it.each([
    ["marks that reorder text", "\u202egnp.exe", "\\u{202e}gnp.exe"],
    ["control sequences of terminals", "\u001b[31mred", "\\u{001b}[31mred"],
    ["characters without a width", "a\u200bb", "a\\u{200b}b"],
    ["a line that is written over", "a\rb", "a\\u{000d}b"],
    ["letters without a shape", "a\u3164b\u115fc\u034fd", "a\\u{3164}b\\u{115f}c\\u{034f}d"]
  ])("shows %s", (_what, text, shown) => assert.strictEqual(visible(text), shown))

  it("keeps lines, tabs and letters of every script", () =>
    assert.strictEqual(visible("a\r\n\tб 漢 👩‍💻"), "a\n\tб 漢 👩‍💻"))
})

it.each([
  ["Which\n\ncolour?", "Which colour?"],
  [`a ${"word ".repeat(30)}`, "a word word word word…"]
])("shortens %j to %j", (text, short) => assert.strictEqual(shortened(text, 22), short))

it.each([
  [0, "Runs · Reprise"],
  [3, "(3) Runs · Reprise"]
])("names a page while %d questions are open: %s", (open, title) => assert.strictEqual(titleText("Runs", open), title))
