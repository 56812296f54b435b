import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Plan, parsePlan, taskList } from "../src/index.ts"
import { lines, MarkdownLines, parsed } from "./plans.ts"

const phasesOf = (text: string) => parsed(parsePlan(text)).phases
const tasksOf = (...items: ReadonlyArray<string>) => phasesOf(lines("## Phase 1: T", "", ...items))[0]?.tasks ?? []

describe("phases", () => {
  it.each<[string, string, string, boolean]>([
    ["## Phase 1: Store sessions", "1", "Store sessions", false],
    ["## Phase 1 - Store sessions", "1", "Store sessions", false],
    ["## Phase 1 — Store sessions", "1", "Store sessions", false],
    ["## Phase 1 Store sessions", "1", "Store sessions", false],
    ["## Phase 1:Store sessions", "1", "Store sessions", false],
    ["## phase 1: Store sessions", "1", "Store sessions", false],
    ["## Phase 1: Store sessions - COMPLETE", "1", "Store sessions", true],
    ["## Phase 1: Store sessions — COMPLETE", "1", "Store sessions", true],
    ["## Phase 1: Make it COMPLETE", "1", "Make it COMPLETE", false],
    ["## Phase 1: Store - complete", "1", "Store - complete", false],
    ["## Phase 1 - COMPLETE", "1", "Phase 1", true],
    ["## Phase 1", "1", "Phase 1", false],
    ["## Phase 0: Spike", "0", "Spike", false],
    ["## Phase 007: Bond", "7", "Bond", false],
    ["### Phase 2.1: Part", "2.1", "Part", false],
    ["### Phase 2.10 Part", "2.10", "Part", false],
    ["### Phase 3: Below another heading", "3", "Below another heading", false],
    ["## Phase 2.1: Hotfix", "2.1", "Hotfix", false],
    ["## Phase 1: `a: b` — **c** \\# ##", "1", "`a: b` — **c** \\#", false],
    ["   ##   Phase  1:   Spaced   out   ##  ", "1", "Spaced out", false],
    ["Phase 1: Underlined\n-------------------", "1", "Underlined", false]
  ])("%j is phase %s %j", (heading, id, title, done) => {
    const [phase] = phasesOf(lines(heading, "", "- [ ] task"))
    assert.deepStrictEqual([phase?.id, phase?.title, phase?.done], [id, title, done])
  })

  it.each([
    "## Phases",
    "## Phase overview",
    "## Phasers set to stun",
    "#### Phase 1 in detail",
    "    ## Phase 9: indented code",
    "> ## Phase 9: quoted",
    "<!-- ## Phase 9: comment -->",
    "```\n## Phase 9: in a fence\n```",
    "~~~~md\n~~~\n## Phase 9: in a longer fence\n~~~~",
    "- item\n\n  ## Phase 9: in an item",
    "\\## Phase 9: escaped"
  ])("%j is not a phase", (text) => {
    assert.deepStrictEqual(
      phasesOf(lines("## Phase 1: T", "- [ ] task", "", text, "")).map(({ id }) => id),
      ["1"]
    )
  })

  it("end at the next heading of their level and keep their source text", () => {
    const text = lines(
      "# P",
      "",
      "## Phase 1: A",
      "text",
      "### Notes",
      "- [ ] a",
      "## Files",
      "none",
      "## Phase 2: B",
      "- [ ] b"
    )
    const [first, second] = phasesOf(text)
    assert.strictEqual(first?.body, lines("## Phase 1: A", "text", "### Notes", "- [ ] a"))
    assert.deepStrictEqual(first?.position, { line: 3, column: 1, offset: 5 })
    assert.strictEqual(second?.body, lines("## Phase 2: B", "- [ ] b"))
  })

  it("can have text and no items", () => {
    assert.deepStrictEqual(phasesOf(lines("## Phase 1: T", "Do what must be done."))[0]?.tasks, [])
  })

  it("treats an outer phase without items as a group", () => {
    const text = lines("## Phase 2: Auth", "About it.", "### Phase 2.1: A", "- [ ] a", "### Phase 2.2: B", "- [ ] b")
    assert.deepStrictEqual(
      phasesOf(text).map(({ id }) => id),
      ["2.1", "2.2"]
    )
  })

  it("ends an outer phase with items where the inner phase begins", () => {
    const [outer, inner] = phasesOf(lines("## Phase 2: Auth", "- [ ] own", "### Phase 2.1: A", "- [ ] a"))
    assert.strictEqual(outer?.body, lines("## Phase 2: Auth", "- [ ] own"))
    assert.strictEqual(inner?.id, "2.1")
  })

  it("marks inner phases done when their group is done", () => {
    const text = lines("## Phase 2: Auth - COMPLETE", "### Phase 2.1: A", "- [ ] a", "## Phase 3: C", "- [ ] c")
    assert.deepStrictEqual(
      phasesOf(text).map(({ done }) => done),
      [true, false]
    )
  })

  it("excludes a section between inner phases, and warns about its items", () => {
    const text = lines(
      "## Phase 2: X",
      "### Phase 2.1: A",
      "- [ ] a",
      "### Notes",
      "- [ ] lost",
      "### Phase 2.2: B",
      "- [ ] b"
    )
    const plan = parsed(parsePlan(text))
    assert.deepStrictEqual(
      plan.phases.flatMap((phase) => phase.tasks.map((task) => task.text)),
      ["a", "b"]
    )
    assert.deepStrictEqual(
      plan.notes.map(({ code, line, column }) => [code, line, column]),
      [["task-outside-phase", 5, 1]]
    )
  })

  it.each([
    ["**Completion gate:** all tests pass", "all tests pass"],
    ["**Completion gate**: all\ntests   pass", "all tests pass"],
    ["**completion gate:**\n\n- tests pass\n- docs written", "tests pass; docs written"],
    ["- **Completion gate:** in a list", "in a list"]
  ])("reads %j as its completion gate", (text, gate) => {
    assert.strictEqual(phasesOf(lines("## Phase 1: T", "- [ ] task", "", "***", text))[0]?.completionGate, gate)
  })
})

describe("tasks", () => {
  it.each<[string, string | undefined, string, string | undefined]>([
    ["- [ ] P1.2 Add it", "P1.2", "Add it", undefined],
    ["- [ ] P1.2 — Add it", "P1.2", "Add it", undefined],
    ["- [ ] P1.2 - Add it", "P1.2", "Add it", undefined],
    ["- [ ] P1.2: Add it", "P1.2", "Add it", undefined],
    ["- [ ] P1.2. Add it", "P1.2", "Add it", undefined],
    ["- [ ] **P1.2** — Add it", "P1.2", "Add it", undefined],
    ["- [ ] **P1.2:** Add it", "P1.2", "Add it", undefined],
    ["- [ ] **P1.2: Add** it", "P1.2", "**Add** it", undefined],
    ["- [ ] `P1.2` Add it", "P1.2", "Add it", undefined],
    ["- [ ] P1.2", "P1.2", "P1.2", undefined],
    ["- [ ] 02-01-T3 Wire OAuth (checkpoint: human-verify)", "02-01-T3", "Wire OAuth", "human-verify"],
    ["- [ ] 2.1-T4 Wire", "2.1-T4", "Wire", undefined],
    ["- [ ] auth-T4 Wire", "auth-T4", "Wire", undefined],
    ["- [ ] T004 Wire", "T004", "Wire", undefined],
    ["- [ ] P1 is urgent", undefined, "P1 is urgent", undefined],
    ["- [ ] P1.2/P1.3 both", undefined, "P1.2/P1.3 both", undefined],
    ["- [ ] HTTP2 support", undefined, "HTTP2 support", undefined],
    ["- [ ] Choose (checkpoint:decision)", undefined, "Choose", "decision"],
    ["- [ ] Act (Checkpoint: Human-Action)", undefined, "Act", "human-action"],
    ["- [ ] Stop (checkpoint: architectural-change)  ", undefined, "Stop", "architectural-change"],
    [
      "- [ ] Explain `(checkpoint: TYPE)` in the guide",
      undefined,
      "Explain `(checkpoint: TYPE)` in the guide",
      undefined
    ],
    ["* [ ] star", undefined, "star", undefined],
    ["+ [ ] plus", undefined, "plus", undefined],
    ["3. [ ] number", undefined, "number", undefined],
    ["- [ ]\n  on the next line", undefined, "on the next line", undefined],
    ["- [ ] over\n  two lines (checkpoint: decision)", undefined, "over two lines", "decision"],
    ["- [ ] a [link](x.md) and *more*", undefined, "a [link](x.md) and *more*", undefined]
  ])("reads %j", (item, id, text, checkpoint) => {
    const [task, ...others] = tasksOf(item)
    assert.deepStrictEqual([task?.id, task?.text, task?.checkpoint], [id, text, checkpoint])
    assert.deepStrictEqual(others, [])
  })

  it("know whether their boxes are ticked", () => {
    assert.deepStrictEqual(
      tasksOf("- [ ] a", "- [x] b", "- [X] c").map(({ checked }) => checked),
      [false, true, true]
    )
  })

  it("can be nested, and then are separate tasks in the order of the text", () => {
    const tasks = tasksOf("- [ ] a", "  - [x] b", "    1. [ ] c", "- plain", "  - [ ] d")
    assert.deepStrictEqual(
      tasks.map(({ text, depth, position: { line, column } }) => [text, depth, line, column]),
      [
        ["a", 0, 3, 1],
        ["b", 1, 4, 3],
        ["c", 2, 5, 5],
        ["d", 1, 7, 3]
      ]
    )
  })

  it.each([
    "- plain",
    "- [link](x)",
    "- [x](y)",
    "> - [ ] quoted",
    "```\n- [ ] code\n```",
    "\\- [ ] escaped",
    "- \\[ ] escaped"
  ])("%j is not a task", (text) => assert.deepStrictEqual(tasksOf(text), []))
})

describe("text", () => {
  const text = lines("---", "id: x", "---", "# T", "## Phase 1: A", "- [ ] a", "  more", "", "## Phase 2: B", "- [ ] b")

  it.each<[string, (text: string) => string]>([
    ["with CRLF", (text) => text.replaceAll("\n", "\r\n")],
    ["with CR", (text) => text.replaceAll("\n", "\r").replace(/---\rid: x\r---/, "---\nid: x\n---")],
    ["with a byte order mark", (text) => `\uFEFF${text}`],
    ["without a final newline", (text) => text.trimEnd()],
    ["with trailing blanks", (text) => text.replaceAll(/(?<=[ab])\n/g, "  \n")]
  ])("is the same plan %s", (_, change) => {
    const summary = (text: string) => {
      const plan = parsed(parsePlan(text))
      return {
        ...{ id: plan.id, title: plan.title, notes: plan.notes },
        phases: plan.phases.map(({ id, title, position: { line, column }, tasks }) => ({
          ...{ id, title, line, column },
          tasks: tasks.map(({ text, position: { line, column } }) => ({ text, line, column }))
        }))
      }
    }
    assert.deepStrictEqual(summary(change(text)), summary(text))
  })

  it("keeps its text byte for byte", () => {
    const odd = `\uFEFF${text.replaceAll("\n", "\r\n")}\t - loose  \r\n\n\n<!-- x -->`
    assert.strictEqual(parsed(parsePlan(odd)).source, odd)
  })

  it.prop(
    "is a plan or refused, whatever it is",
    [MarkdownLines, Schema.Literals(["\n", "\r\n"])],
    ([all, end]) => {
      const text = all.join(end)
      const result = parsePlan(text)
      if (result._tag === "Success") {
        const { phases } = result.success
        assert.strictEqual(result.success.source, text)
        for (const phase of phases) {
          assert.isTrue(text.slice(phase.position.offset).startsWith(phase.body.trimStart().slice(0, 5)))
          for (const { checked, position } of phase.tasks) {
            const box = checked ? /^(?:[-*+]|\d+[.)])\s+\[[xX]\]/ : /^(?:[-*+]|\d+[.)])\s+\[\s\]/
            assert.match(text.slice(position.offset), box)
          }
        }
        const ids = phases.flatMap((phase) => taskList(phase).map(({ id }) => id))
        assert.strictEqual(new Set(ids).size, ids.length)
      } else {
        assert.isAbove(result.failure.length, 0)
        for (const { line, column, message } of result.failure) {
          assert.isTrue(line >= 1 && line <= all.length + 1 && column >= 1 && /[.?]$/.test(message))
        }
      }
    },
    { arbitrary: { runs: 400, size: 30 } }
  )

  it.prop("is refused or parsed when it is any string", [Schema.String], ([text]) => {
    assert.include(["Success", "Failure"], parsePlan(text)._tag)
  })

  it("is parsed into data that survives JSON", () => {
    const plan = parsed(parsePlan(text))
    const again = Schema.decodeUnknownSync(Plan)(JSON.parse(JSON.stringify(plan)))
    assert.deepStrictEqual(again, plan)
  })
})
