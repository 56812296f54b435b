import { assert, describe, it } from "@effect/vitest"
import stringWidth from "string-width"
import { isSlow } from "../src/terminal/earlyLine.ts"
import { saidLines, wrappedLine } from "../src/views/live/fitText.ts"

const words =
  "I will first look at the tests, and then fix the parser where it takes a comment for a heading. After that I run everything again."

describe("what an agent said", () => {
  it("is folded to two marked lines, which break between words", () => {
    assert.deepStrictEqual(saidLines(words, 60, false), [
      "    | I will first look at the tests, and then fix the",
      "    | parser where it takes a comment for a heading. …"
    ])
    assert.deepStrictEqual(saidLines("Short.\n\nYes.", 60, false), ["    | Short. Yes."])
  })

  it("is folded without what is meant for Reprise", () => {
    const report = 'Done.\n```json\n{ "result": "complete" }\n```\n'
    assert.deepStrictEqual(saidLines(report, 60, false), ["    | Done."])
    assert.deepStrictEqual(saidLines(report.slice(6), 60, false), [])
  })

  it("is shown as a whole where everything is wanted, with its own lines", () => {
    assert.deepStrictEqual(saidLines("One\n\n  two", 60, true), ["    | One", "    | ", "    | two"])
    assert.strictEqual(saidLines(words, 40, true).length, 5)
  })

  it.each([
    "🚀👩‍👩‍👧‍👦 ".repeat(40),
    "日本語テキスト".repeat(30),
    "שלום עולם ".repeat(30),
    "x".repeat(500),
    "\x1b[31mred\x07 ".repeat(40)
  ])("fits every width: %s", (text) => {
    for (const columns of [16, 40, 80, 200]) {
      for (const whole of [true, false]) {
        for (const line of saidLines(text, columns, whole)) {
          assert.isBelow(stringWidth(line), columns, line)
          assert.notMatch(line, /\p{Cc}/u)
        }
      }
    }
  })
})

describe("a line of Reprise", () => {
  it("breaks between words, and goes on further in", () => {
    assert.deepStrictEqual(wrappedLine("    Verdict: ready with corrections", 24), [
      "    Verdict: ready",
      "      with corrections"
    ])
    assert.deepStrictEqual(wrappedLine("Short", 24), ["Short"])
    assert.deepStrictEqual(wrappedLine("", 24), [""])
  })
})

describe("the first sign of a command", () => {
  it.each([
    [["run", "PLAN.md"], true],
    [["up"], true],
    [["sessions", "start", "do it"], true],
    [["doctor"], true],
    [["sessions", "list"], false],
    [["status"], false],
    [["run", "PLAN.md", "--json"], false],
    [["run", "--help"], false],
    [["up", "-q"], false],
    [[], false]
  ])("of %j: %s", (args, shown) => {
    assert.strictEqual(isSlow(args), shown)
  })
})
