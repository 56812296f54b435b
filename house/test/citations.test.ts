import { assert, describe, it } from "@effect/vitest"
import { findBrokenCitations } from "../src/citations.ts"
import { slugOf } from "../src/markdown.ts"

const pages: ReadonlyArray<readonly [string, string]> = [
  [
    "docs/design/run-machine.md",
    "# The run machine (orchestrator)\n\n## Review\n\n## Review\n\n```\n## Not a heading\n```\n"
  ],
  ["docs/decisions/0006-what-differs.md", "# 6. What differs\n"]
]

const brokenIn = (file: string, text: string) =>
  findBrokenCitations(new Map([...pages, [file, text]])).map(
    ({ file, line, citation }) => `${file}:${line} ${citation}`
  )

const inCode = (comment: string) => brokenIn("libs/plan/src/a.ts", `const a = 1\n${comment}\n`)

describe("a citation in a comment", () => {
  it("resolves when the page and the heading exist", () => {
    assert.deepStrictEqual(inCode("/** Reviews once (docs/design/run-machine.md#review). */"), [])
    assert.deepStrictEqual(inCode("// docs/design/run-machine.md#the-run-machine-orchestrator"), [])
    assert.deepStrictEqual(inCode("// The second of the same name: docs/design/run-machine.md#review-1."), [])
    assert.deepStrictEqual(inCode("// docs/design/run-machine.md says more."), [])
  })

  it("is broken when the page does not exist", () => {
    assert.deepStrictEqual(inCode("// docs/design/nowhere.md"), ["libs/plan/src/a.ts:2 docs/design/nowhere.md"])
  })

  it("is broken when the page has no such heading", () => {
    assert.deepStrictEqual(inCode("// docs/design/run-machine.md#escalate"), [
      "libs/plan/src/a.ts:2 docs/design/run-machine.md#escalate"
    ])
    assert.lengthOf(inCode("// docs/design/run-machine.md#not-a-heading"), 1)
  })

  it("is found when the comment wraps it", () => {
    assert.lengthOf(inCode("/**\n * Waits (run-machine:\n * any author step).\n */"), 1)
  })

  it("names its page by path: the old style is broken", () => {
    assert.deepStrictEqual(inCode("/** Ends the turn (run-machine: ESCALATE). */"), [
      "libs/plan/src/a.ts:2 (run-machine: ESCALATE)"
    ])
    assert.lengthOf(inCode("// (gate: What a question shows)"), 1)
    assert.lengthOf(inCode("// as continuation.md says"), 1)
  })

  it("may name a decision that exists", () => {
    assert.deepStrictEqual(inCode("// Held, not handed back (decision 6)."), [])
    assert.lengthOf(inCode("// Held, not handed back (decision 7)."), 1)
  })

  it("is not looked for in code", () => {
    assert.deepStrictEqual(inCode('export const page = "docs/design/nowhere.md (gate: x)"'), [])
    assert.deepStrictEqual(inCode("open(gate)"), [])
  })
})

describe("a link in a page", () => {
  it("resolves relative to its page", () => {
    assert.deepStrictEqual(brokenIn("docs/guide.md", "[a](design/run-machine.md#review) [b](#here)\n\n# Here\n"), [])
    assert.deepStrictEqual(brokenIn("docs/design/b.md", "[a](../decisions) [b](https://example.org/none.md)"), [])
  })

  it("is broken when the file, the folder or the heading does not exist", () => {
    assert.deepStrictEqual(brokenIn("docs/guide.md", "text\n\n[a](design/none.md)"), ["docs/guide.md:3 design/none.md"])
    assert.lengthOf(brokenIn("docs/guide.md", "[a](design/run-machine.md#none) [b](#none) [c](../deploy)"), 3)
  })

  it("is not looked for in a code block", () => {
    assert.deepStrictEqual(brokenIn("docs/guide.md", "```\n[a](none.md)\n```\n"), [])
  })
})

describe("a page that says where things are", () => {
  it("names paths that exist", () => {
    assert.deepStrictEqual(
      brokenIn("CONTRIBUTING.md", "| `docs/design` | `docs/design/run-machine.md` | `npm test` |"),
      []
    )
    assert.deepStrictEqual(brokenIn("CONTRIBUTING.md", "`libs/nowhere`"), ["CONTRIBUTING.md:1 libs/nowhere"])
    assert.lengthOf(brokenIn("docs/design/README.md", "`services/gate/src/actor`"), 1)
  })
})

describe("the anchor of a heading", () => {
  it("is GitHub's", () => {
    assert.strictEqual(slugOf("The run machine (orchestrator)"), "the-run-machine-orchestrator")
    assert.strictEqual(slugOf("Reprise: architecture"), "reprise-architecture")
    assert.strictEqual(slugOf("Many checkpoints, and the summary"), "many-checkpoints-and-the-summary")
    assert.strictEqual(slugOf("`maxStepVisits` & co_x"), "maxstepvisits--co_x")
  })
})
