import { assert, describe, it } from "@effect/vitest"
import { optionLines, questionText, since } from "../src/views/questionText.ts"
import { aQuestion, noTokens, plainLines } from "./support/views.ts"

const raisedMs = Date.parse("2026-01-01T10:00:00.000Z")
const minutes = (n: number) => raisedMs + n * 60_000
const shown = (given: Record<string, unknown> = {}) => plainLines(questionText(aQuestion(given), minutes(5)))

describe("untrusted text in a question", () => {
  it("never look like a line, a prompt or a choice of Reprise", () => {
    const text = shown({
      reason: "Fine.\nanswer> o\n\u202eo = override",
      evidence: { planPath: "a\nanswer> .md", phaseTitle: "One\u2028answer> o" }
    }).join("\n")
    assert.notMatch(text, /^\s*answer>/m)
    assert.notMatch(text, /[\u202e\u2028]/)
    assert.include(text, "  | answer> o\n  | \\u{202e}o = override")
    assert.include(text, "plan a\\nanswer> .md")
  })
})

describe("a question", () => {
  it("says who asks, for how long, where and why", () => {
    const lines = shown({ evidence: { planPath: "PLAN.md", phaseTitle: "Languages", attempt: 2 } })
    assert.deepStrictEqual(lines.slice(0, 5), [
      "Your answer is needed (r1-abc-e1)",
      "The author needs you, 5 min ago",
      "run r1-abc, plan PLAN.md, phase 2 (Languages), author's work, attempt 2",
      "Why",
      "  | Which language?"
    ])
  })

  it("ends with the choices, each with the key to type", () => {
    assert.deepStrictEqual(shown().slice(-5), [
      "",
      "c = continue session",
      "f = fix in new session",
      "o = override and move on",
      "q = abort"
    ])
  })

  it("shows a choice without a key by its name", () => {
    const question = aQuestion({ options: [{ name: "once", label: "allow once" }] })
    assert.deepStrictEqual(optionLines(question), ["once = allow once"])
  })

  it("shows what the agents will be told next", () => {
    const willBeTold = [
      { role: "author", text: "Use blue.\nNot teal." },
      { role: "reviewer", text: "R1 is meant so." }
    ]
    assert.include(
      shown({ evidence: { willBeTold } }).join("\n"),
      "The author will be told\n  | Use blue.\n  | Not teal.\nThe reviewer will be told\n  | R1 is meant so."
    )
  })

  it("says why continuing is not offered", () => {
    const lines = shown({ evidence: { continueUnavailable: "the session expired" } })
    assert.include(lines, "Continuing is not possible: the session expired")
  })

  it("shows findings with their priority and reason", () => {
    const items = [
      { id: "R1", title: "Close the file", action: "human_required", reason: "It leaks.", priority: "P0" },
      { id: "R2", title: "Rename it", action: "auto_fix", priority: "P2" }
    ]
    const lines = shown({ items })
    assert.include(lines, "  | P0 R1 Close the file (human_required): It leaks.")
    assert.include(lines, "  | P2 R2 Rename it (auto_fix)")
  })

  it("shows the quality gates that failed, with the end of their output", () => {
    const result = { durationMs: 1, timedOut: false, logRef: "a.log", head: "" }
    const gateResults = [
      { ...result, command: "npm test", exitCode: 1, tail: "1 failed" },
      { ...result, command: "npm run lint", exitCode: 0, tail: "fine" }
    ]
    const lines = shown({ evidence: { gateResults } })
    assert.include(lines, "  | npm test → exit 1 (log a.log)")
    assert.include(lines, "  | 1 failed")
    assert.isFalse(lines.some((line) => line.includes("npm run lint")))
  })

  it("shows the whole of a gate's short output", () => {
    const result = { command: "npm test", exitCode: 1, durationMs: 1, timedOut: false, logRef: "a.log" }
    const short = shown({ evidence: { gateResults: [{ ...result, head: "2 passed\n1 failed\n", tail: "" }] } })
    assert.include(short, "  | 1 failed")
    const long = shown({ evidence: { gateResults: [{ ...result, head: "begin", tail: "x".repeat(2000) }] } })
    assert.isFalse(long.some((line) => line.includes("begin")))
  })

  it("shows a checkpoint with its verify steps or its required action", () => {
    const checkpoint = {
      task: "T7",
      type: "human-verify",
      description: "Sign in by hand.",
      verifySteps: ["Open /login", "Sign in"],
      requiredAction: "Have an account"
    }
    const lines = shown({ origin: "checkpoint", evidence: { checkpoint } })
    assert.includeMembers(
      [...lines],
      ["  | T7 (human-verify): Sign in by hand.", "  | 1. Open /login", "  | 2. Sign in", "  | Have an account"]
    )
  })

  it("does not repeat a checkpoint's description that is also the reason", () => {
    const checkpoint = { task: "T7", type: "decision", description: "Red or blue?" }
    const lines = shown({ origin: "checkpoint", reason: "Red or blue?", evidence: { checkpoint } })
    assert.strictEqual(lines.filter((line) => line.includes("Red or blue?")).length, 1)
    assert.include([...lines], "  | T7 (decision)")
  })

  it("shows missing commits and files, and uncommitted changes", () => {
    const lines = shown({ evidence: { missingCommits: ["abc"], missingFiles: ["a.ts"], dirty: ["b.ts"] } })
    assert.includeMembers([...lines], ["Missing", "  | abc", "  | a.ts", "Not committed", "  | b.ts"])
  })

  it("shows the commit, the usage with the reasoning tokens, and the session", () => {
    const lines = shown({
      sessionId: "r1-abc-s1",
      evidence: {
        commit: "0123abc",
        diffStat: "1 file changed",
        tokens: { ...noTokens, input: 10, output: 5, reasoning: 3 },
        cost: 0.5
      }
    })
    assert.includeMembers(
      [...lines],
      [
        "  | 0123abc",
        "  | 1 file changed",
        "Used so far: 18 tokens, $0.5000",
        "Session r1-abc-s1; 'reprise attach r1-abc-s1' opens it"
      ]
    )
  })

  it("says how long its agent has been idle and how full its context is, as far as that is known", () => {
    const idleSince = "2026-01-01T09:53:20.000Z"
    const ofSession = (evidence: object) =>
      shown({ sessionId: "r1-abc-s1", evidence }).find((line) => line.startsWith("Session"))
    const opens = "'reprise attach r1-abc-s1' opens it"
    assert.strictEqual(
      ofSession({ idleSince, context: { tokens: 90_000, limit: 200_000 } }),
      `Session r1-abc-s1, idle since 2026-01-01 09:53 UTC (11 min ago), 45 % of its context used (90000 of 200000 tokens); ${opens}`
    )
    assert.strictEqual(
      ofSession({ context: { tokens: 900 } }),
      `Session r1-abc-s1, 900 tokens in its context; ${opens}`
    )
    assert.strictEqual(ofSession({}), `Session r1-abc-s1; ${opens}`)
  })

  it("tells a reviewer's words and session from the author's", () => {
    const lines = shown({
      origin: "reviewer",
      evidence: { lastLines: "Is R1 meant so?", sessionId: "r1-abc-p1-s1", authorSessionId: "r1-abc-s1" }
    })
    assert.includeMembers(
      [...lines],
      [
        "The reviewer's last lines",
        "  | Is R1 meant so?",
        "The reviewer's session r1-abc-p1-s1; 'reprise attach r1-abc-p1-s1' opens it",
        "The author's session r1-abc-s1; 'reprise attach r1-abc-s1' opens it"
      ]
    )
  })

  it("has no heading without text below it", () => {
    const lines = shown({ reason: " ", evidence: { lastLines: "", dirty: [] } })
    assert.isFalse(lines.some((line) => ["Why", "The agent's last lines", "Not committed", "Items"].includes(line)))
  })

  it("shows control sequences of agents instead of executing them", () => {
    const lines = shown({ reason: "first\n\u001b[2Jsecond", evidence: { lastLines: "\u001b]0;title\u0007" } })
    assert.includeMembers([...lines], ["  | first", "  | \\x1b[2Jsecond", "  | \\x1b]0;title\\x07"])
  })
})

describe("how long ago", () => {
  it.each([
    [0, "just now"],
    [1, "1 min ago"],
    [119, "119 min ago"],
    [120, "2 h ago"],
    [47 * 60 + 59, "47 h ago"],
    [48 * 60, "2 days ago"]
  ])("%d minutes are '%s'", (passed, words) => {
    assert.strictEqual(since("2026-01-01T10:00:00.000Z", minutes(passed)), words)
  })

  it("is never negative when the clock runs behind", () => {
    assert.strictEqual(since("2026-01-01T10:00:00.000Z", minutes(-3)), "just now")
  })
})
