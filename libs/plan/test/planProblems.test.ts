import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { formatPlanProblem, type PlanProblemCode, parsePlan } from "../src/index.ts"
import { maxBlockLength, maxPlanLength } from "../src/markdown/refuseText.ts"
import { lines, places, refused } from "./plans.ts"

type Place = readonly [PlanProblemCode, line: number, column: number]
const phase = (...text: ReadonlyArray<string>) => lines("## Phase 1: T", ...text)

/** What takes longer is ended: a reader that tries every division of a text never comes back. */
const withinSeconds = <A>(read: () => A): A => runInNewContext("read()", { read }, { timeout: 20_000 })

it("a plan with hundreds of blank lines that end like Windows' is read", () => {
  const text = phase("- [ ] a", "\r\n".repeat(900), "- [ ] b", "word ".repeat(300))
  assert.isTrue(Result.isSuccess(withinSeconds(() => parsePlan(text))))
})

it("a plan is read where a box stands after a line separator, which ends no line of markdown", () => {
  assert.isTrue(Result.isSuccess(parsePlan(phase("- [ ] a", "", "word\u2028[ ] b"))))
})

describe("a plan is refused, with line and column, when", () => {
  it.each<[string, string, ReadonlyArray<Place>]>([
    ["it is empty", "", [["empty", 1, 1]]],
    ["it is blank", "\uFEFF \r\n\t\r\n", [["empty", 1, 1]]],
    ["it has no phases", "# Plan\n\n- [ ] task\n", [["no-phases", 1, 1]]],
    ["its title is its only phase", "# Phase 1: T\n\n- [ ] task\n", [["no-phases", 1, 1]]],
    ["it holds NUL", phase("- [ ] a", "- [ ] b\0c"), [["binary", 3, 8]]],
    ["it holds a terminal escape", phase("- [ ] \x1b[31mred"), [["binary", 2, 7]]],
    ["it was read as the wrong encoding", phase("- [ ] caf\uFFFD"), [["not-utf8", 2, 10]]],
    ["it holds half a character", phase("- [ ] \uD83D!"), [["not-utf8", 2, 7]]],
    ["a byte order mark hides a heading", phase("- [ ] a", "\uFEFF## Phase 2: B", "- [ ] b"), [["binary", 3, 1]]],
    ["a fence never ends", phase("- [ ] a", "", "```ts", "## Phase 2: B", "- [ ] b"), [["unclosed-block", 4, 1]]],
    [
      "a fence is closed with other characters",
      phase("- [ ] a", "", " ~~~~", "~~~", "```"),
      [["unclosed-block", 4, 2]]
    ],
    ["a fence opens on the last line", "## Phase 1: T\n- [ ] a\n\n```", [["unclosed-block", 4, 1]]],
    [
      "a comment never ends",
      phase("- [ ] a", "", "<!-- later", "## Phase 2: B", "- [ ] b"),
      [["unclosed-block", 4, 1]]
    ],
    ["a script never ends", phase("- [ ] a", "", "<script>", "## Phase 2: B"), [["unclosed-block", 4, 1]]],
    [
      "two phases have one id",
      lines("## Phase 1: A", "- [ ] a", "## Phase 01: B", "- [ ] b"),
      [["phase-duplicate", 3, 1]]
    ],
    ["phases are out of order", lines("## Phase 2: A", "- [ ] a", "## Phase 1: B", "- [ ] b"), [["phase-order", 3, 1]]],
    ["inner phases are out of order", lines("## Phase 2.10: A", "a", "## Phase 2.9: B", "b"), [["phase-order", 3, 1]]],
    ["a phase is empty", lines("## Phase 1: A", "", "## Phase 2: B", "- [ ] b"), [["phase-empty", 1, 1]]],
    ["a phase holds only a rule and a comment", lines("## Phase 1: A", "***", "<!-- x -->"), [["phase-empty", 1, 1]]],
    ["the last phase is empty", lines("## Phase 1: A", "a", "## Phase 2: B"), [["phase-empty", 3, 1]]],
    [
      "a phase stands in another one",
      lines("## Phase 1: A", "- [ ] a", "### Phase 2.1: B", "- [ ] b"),
      [["phase-misplaced", 3, 1]]
    ],
    [
      "a phase stands in another one whose number only begins like its own",
      lines("## Phase 1: A", "- [ ] a", "### Phase 10.1: B", "- [ ] b"),
      [["phase-misplaced", 3, 1]]
    ],
    ["a phase heading is too deep", phase("- [ ] a", "#### Phase 2: B", "- [ ] b"), [["phase-heading", 3, 1]]],
    ["a phase heading is too high", lines("# T", "## Phase 1: A", "a", "# Phase 2: B", "b"), [["phase-heading", 4, 1]]],
    ["a task id is used twice", phase("- [ ] P1.1 a", "- [ ] b", "- [ ] P1.1 c"), [["task-duplicate", 4, 1]]],
    [
      "a task id is used in two phases",
      lines("## Phase 1: A", "- [ ] P1.1 a", "## Phase 2: B", "- [ ] P1.1 b"),
      [["task-duplicate", 4, 1]]
    ],
    ["a given id is the id of another task", phase("- [ ] 1-T2 a", "- [ ] b"), [["task-duplicate", 3, 1]]],
    ["a checkpoint has an unknown type", phase("- [ ] a (checkpoint: human-verfy)"), [["checkpoint-type", 2, 1]]],
    ["a checkpoint has no type", phase("- [ ] a (checkpoint)"), [["checkpoint-type", 2, 1]]],
    ["a checkpoint has no colon", phase("- [ ] a (checkpoint decision)"), [["checkpoint-type", 2, 1]]],
    ["a checkpoint is not closed", phase("- [ ] a (checkpoint: decision"), [["checkpoint-type", 2, 1]]],
    ["a checkpoint is not at the end", phase("- [ ] a (checkpoint: decision) b"), [["checkpoint-misplaced", 2, 1]]],
    [
      "a task has two checkpoints",
      phase("- [ ] a (checkpoint: decision) (checkpoint: decision)"),
      [["checkpoint-misplaced", 2, 1]]
    ],
    ["a checkpoint has no box", phase("- a (checkpoint: decision)"), [["checkpoint-misplaced", 2, 1]]],
    ["the gate hangs on to an item", phase("- [ ] a", "**Completion gate:** green"), [["completion-gate", 2, 1]]],
    ["the gate hangs on to a paragraph", phase("Text.", "**Completion gate:** green"), [["completion-gate", 2, 1]]],
    ["the gate says nothing", phase("- [ ] a", "", "**Completion gate:**"), [["completion-gate", 4, 1]]],
    [
      "a phase has two gates",
      phase("**Completion gate:** a", "", "**Completion gate:** b"),
      [["completion-gate", 4, 1]]
    ],
    [
      "a grouping heading has a gate",
      lines("## Phase 1: G", "**Completion gate:** a", "### Phase 1.1: A", "a"),
      [["completion-gate", 1, 1]]
    ],
    ["a box stands without a bullet after a carriage return", phase("a\r[ ] b"), [["task-malformed", 2, 1]]],
    ["a list is nested very deep in one line", phase(`${"- ".repeat(5000)}a`), [["too-deep", 2, 1]]],
    [
      "a list is nested very deep over lines",
      phase(...Array.from({ length: 60 }, (_, depth) => `${"  ".repeat(depth)}- [ ] a`)),
      [["too-deep", 34, 65]]
    ],
    ["quotes are nested deep", phase("- [ ] a", "", `${">".repeat(40)} a`), [["too-deep", 4, 1]]],
    [
      "a thousand lines after one are blank",
      phase("- [ ] a", ...Array(1000).fill(" \t"), "a"),
      [["blank-lines", 2, 8]]
    ],
    ["nearly all of it is blank", phase("- [ ] a", "\r\n".repeat(100_000)), [["blank-lines", 2, 8]]],
    ["a block is enormous", phase("- [ ] a", "", "word ".repeat(maxBlockLength / 4)), [["too-large", 4, 1]]],
    [
      "a block of many lines is enormous",
      phase("- [ ] a", "", `${"word ".repeat(200)}\n`.repeat(maxBlockLength / 1000)),
      [["too-large", 4, 1]]
    ],
    ["a paragraph is long", phase("- [ ] a", "", "word\n".repeat(4000)), [["too-large", 4, 1]]],
    ["an item goes on and on", phase("- [ ] a", "- [ ] b", "word\n".repeat(4000)), [["too-large", 3, 1]]],
    ["the front matter is long", `---\ntitle: "${"a".repeat(16 * 1024)}"\n---\n`, [["too-large", 1, 1]]],
    ["it has very many lines", phase("- [ ] a", "", "a\n\n".repeat(8200)), [["too-large", 16 * 1024 + 1, 1]]],
    ["it has very many items", phase("- [ ] a", "- - - a\n".repeat(6000)), [["too-large", 5464, 1]]],
    ["an item has very many of its own", phase("- [ ] a", "- b", "  - c\n".repeat(600)), [["too-large", 3, 1]]],
    ["it is enormous", "a".repeat(maxPlanLength + 1), [["too-large", 1, 1]]]
  ])("%s", (_, text, expected) => {
    const problems = refused(parsePlan(text))
    assert.deepStrictEqual(places(problems), expected)
    for (const { message } of problems) assert.match(message, /^[^A-Z].{20,300}[.?]$/)
  })

  it.each([
    "## Phase 1a: T",
    "## Phase 1.2.3: T",
    "## Phase 1. T",
    "## Phase 1) T",
    "## Phase 1-2: T",
    "## Phase 12345: T",
    "## Phase-1: T",
    "## Phase #1: T",
    "## Phase1: T",
    "## Phase One: T",
    "## Phase A - T"
  ])("a heading looks like a phase but is not: %j", (heading) => {
    const text = lines("## Phase 0: Real", "- [ ] task", "", heading, "- [ ] lost?")
    assert.deepStrictEqual(places(refused(parsePlan(text))), [["phase-heading", 4, 1]])
  })

  it.each([
    "- [] a",
    "- [ ]a",
    "- [x]a",
    "- [ ]",
    "- [ x ] a",
    "- [-] a",
    "- [~] a",
    "- [✓] a",
    "- [\n  ] a",
    "[ ] a",
    "text\n[x] a"
  ])("an item looks like a task but is not: %j", (item) =>
    assert.deepStrictEqual(places(refused(parsePlan(phase("", item)))), [["task-malformed", 3, 1]])
  )
})

it("reads a plan that is as long as a plan may be, and none that is longer", () => {
  const text = phase("- [ ] a", "", "")
  const lines = `${"word ".repeat(20)}\n\n`
  const filled = text + lines.repeat(Math.floor((maxPlanLength - text.length) / lines.length))
  const longest = filled + "a".repeat(maxPlanLength - filled.length)
  assert.deepStrictEqual([longest.length, Result.isSuccess(parsePlan(longest))], [maxPlanLength, true])
  assert.match(refused(parsePlan(`${longest}a`))[0]?.message ?? "", /^the plan has \d+ characters, more than the/)
})

describe("the problems of a plan", () => {
  it("are all reported at once, in the order of the text", () => {
    const text = lines(
      "---",
      "titel: x",
      "---",
      "## Phase 2: A",
      "- [ ] P1.1 a (checkpoint: decide)",
      "## Phase 1: B",
      "- [] b",
      "## Phase 3: C"
    )
    assert.deepStrictEqual(places(refused(parsePlan(text))), [
      ["front-matter-field", 2, 1],
      ["checkpoint-type", 5, 1],
      ["phase-order", 6, 1],
      ["task-malformed", 7, 1],
      ["phase-empty", 8, 1]
    ])
  })

  it("suggest the known word that is closest", () => {
    const [problem] = refused(parsePlan(phase("- [ ] a (checkpoint: human-verfy)")))
    assert.match(problem?.message ?? "", /did you mean 'human-verify'\?/)
  })

  it("name the line of the first of several duplicates", () => {
    const problems = refused(parsePlan(lines("## Phase 1: A", "a", "## Phase 1: B", "b", "## Phase 1: C", "c")))
    assert.deepStrictEqual(problems.map(formatPlanProblem), [
      "line 3, column 1: phase 1 is already on line 1; give this one another number.",
      "line 5, column 1: phase 1 is already on line 1; give this one another number."
    ])
  })

  it("are cut after a hundred", () => {
    assert.strictEqual(refused(parsePlan(phase(...Array.from({ length: 500 }, () => "- [] a")))).length, 100)
  })
})
