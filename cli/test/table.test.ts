import { stripVTControlCharacters } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import Table from "cli-table3"
import { table } from "../src/views/table.ts"
import { cellsOf } from "./support/views.ts"

const head = ["run", "plan", "reason"]
const rows = [
  ["r1-abc", "PLAN.md", "Which language is it to be, and who decides?"],
  ["r2-def", "docs/other.md", ""]
]
const widthOf = (text: string): number =>
  Math.max(...text.split("\n").map((line) => [...stripVTControlCharacters(line)].length))

describe("a table", () => {
  it("is as wide as its content if the terminal is wide enough", () => {
    assert.deepStrictEqual(cellsOf(table(head, rows, 200)), [head, ...rows])
    assert.strictEqual(table(head, rows), table(head, rows, 200), "without a terminal nothing is too wide")
  })

  it("is drawn as by the package for tables that wraps cells, which takes too long for ten thousand rows", () => {
    const samples = [
      [head, ...rows],
      [["a"], [""], ["\u001b[32mgreen\u001b[39m"]],
      [
        ["a", "b"],
        ["漢字", "é"],
        [1, "\u{1f600}"]
      ],
      [
        ["a", "b"],
        ["two\nlines", "one"]
      ]
    ]
    for (const [first = [], ...others] of samples) {
      const drawn = new Table({ head: first.map(String), style: { head: [], border: [] } })
      for (const row of others) drawn.push(row)
      assert.strictEqual(table(first.map(String), others), drawn.toString())
    }
  })

  it("fits into a narrow terminal by wrapping its widest column at words", () => {
    const narrow = table(head, rows, 60)
    assert.strictEqual(widthOf(narrow), 60)
    const reasons = cellsOf(narrow).map((cells) => cells[2])
    assert.strictEqual(
      reasons.filter((text) => text !== "").join(" "),
      "reason Which language is it to be, and who decides?"
    )
    assert.include(narrow, "docs/other.md")
  })

  it("breaks a word that is too long instead of cutting it off", () => {
    const path = "/a/very/long/path/".repeat(5)
    const narrow = table(["what", "where"], [["\u001b[32mworkspace\u001b[39m", path]], 50)
    assert.include(narrow, "\u001b[32mworkspace\u001b[39m", "colours stay as they are")
    assert.strictEqual(widthOf(narrow), 50)
    assert.strictEqual(
      cellsOf(narrow)
        .slice(1)
        .map((cells) => cells[1])
        .join(""),
      path
    )
  })

  it("becomes a list with whole ids if its columns do not fit", () => {
    assert.strictEqual(
      table(head, rows, 30),
      [
        "run     r1-abc",
        "plan    PLAN.md",
        "reason  Which language is it to be, and who decides?",
        "",
        "run     r2-def",
        "plan    docs/other.md"
      ].join("\n")
    )
  })
})
