import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { PlanOutline, parsePlan, planOutline, samePrefix } from "../src/index.ts"
import { lines, parsed, refused } from "./plans.ts"

type Row = readonly [id: string, title: string, ...tasks: ReadonlyArray<string>]
const plan = (...rows: ReadonlyArray<Row>) =>
  parsed(
    parsePlan(
      lines(
        ...rows.flatMap(([id, title, ...tasks]) => [
          `## Phase ${id}: ${title}`,
          "text",
          "",
          ...tasks.map((task) => `- [ ] ${task}`)
        ])
      )
    )
  )
const before = plan(["1", "A", "P1.1", "P1.2"], ["2", "B", "P2.1"], ["3", "C"])
const kinds = (changes: ReadonlyArray<{ readonly kind: string; readonly phase: string }>) =>
  changes.map(({ kind, phase }) => [kind, phase])

describe("a run can continue with an edited plan when", () => {
  it("nothing changed", () => {
    assert.deepStrictEqual(parsed(samePrefix(before, before)), { appended: [], changes: [] })
  })

  it("phases were added at the end", () => {
    const after = plan(["1", "A", "P1.1", "P1.2"], ["2", "B", "P2.1"], ["3", "C"], ["3.1", "D"], ["4", "E"])
    assert.deepStrictEqual(parsed(samePrefix(before, after)).appended, ["3.1", "4"])
  })

  it("a phase has another title, which is reported", () => {
    const after = plan(["1", "A", "P1.1", "P1.2"], ["2", "Better", "P2.1"], ["3", "C"])
    assert.deepStrictEqual(kinds(parsed(samePrefix(before, after)).changes), [["retitled", "2"]])
  })

  it("tasks changed, which are reported", () => {
    const after = plan(["1", "A", "P1.2", "P1.1"], ["2", "B", "P2.2"], ["3", "C"])
    const { changes } = parsed(samePrefix(before, after))
    assert.deepStrictEqual(kinds(changes), [
      ["tasks-changed", "1"],
      ["tasks-changed", "2"]
    ])
    assert.strictEqual(changes[0]?.message, "tasks of phase 1 changed: their order.")
    assert.strictEqual(changes[1]?.message, "tasks of phase 2 changed: gone: P2.1; new: P2.2.")
    assert.deepStrictEqual([changes[1]?.removedTasks, changes[1]?.addedTasks], [["P2.1"], ["P2.2"]])
  })
})

describe("a run cannot continue with an edited plan when", () => {
  it.each<[string, ReadonlyArray<Row>, ReadonlyArray<readonly [string, string]>]>([
    [
      "a phase is gone",
      [
        ["1", "A"],
        ["3", "C"]
      ],
      [["removed", "2"]]
    ],
    [
      "all phases are others",
      [["7", "X"]],
      [
        ["removed", "1"],
        ["removed", "2"],
        ["removed", "3"]
      ]
    ],
    [
      "a phase has another number",
      [
        ["1", "A"],
        ["2", "B"],
        ["5", "C"]
      ],
      [["renumbered", "3"]]
    ],
    [
      "a new first phase pushed the others down",
      [
        ["1", "New"],
        ["2", "A"],
        ["3", "B"],
        ["4", "C"]
      ],
      [
        ["renumbered", "1"],
        ["renumbered", "2"],
        ["renumbered", "3"]
      ]
    ],
    [
      "two phases changed places",
      [
        ["1", "B"],
        ["2", "A"],
        ["3", "C"]
      ],
      [
        ["renumbered", "1"],
        ["renumbered", "2"]
      ]
    ],
    [
      "a phase stands between the known ones",
      [
        ["1", "A"],
        ["1.1", "New"],
        ["2", "B"],
        ["3", "C"]
      ],
      [["inserted", "1.1"]]
    ],
    [
      "a phase stands before the known ones",
      [
        ["0", "New"],
        ["1", "A"],
        ["2", "B"],
        ["3", "C"]
      ],
      [["inserted", "0"]]
    ]
  ])("%s", (_, rows, expected) => {
    const changes = refused(samePrefix(before, plan(...rows)))
    assert.deepStrictEqual(
      kinds(changes).filter(([kind]) => kind !== "tasks-changed" && kind !== "retitled"),
      expected.map((each) => [...each])
    )
    for (const { message } of changes) assert.match(message, /\.$/)
  })

  it("known phases are in another order", () => {
    const outline = planOutline(before)
    const changes = refused(samePrefix(outline, { phases: outline.phases.toReversed() }))
    assert.deepStrictEqual(kinds(changes), [
      ["reordered", "1"],
      ["reordered", "3"]
    ])
  })
})

describe("a plan's outline", () => {
  it("is enough for the comparison and survives JSON", () => {
    const outline = Schema.decodeUnknownSync(PlanOutline)(JSON.parse(JSON.stringify(planOutline(before))))
    assert.deepStrictEqual(parsed(samePrefix(outline, before)), { appended: [], changes: [] })
  })

  it.prop("accepts any phases added at the end", [PlanOutline, PlanOutline], ([one, other]) => {
    const unique = (outline: PlanOutline) => [...new Map(outline.phases.map((phase) => [phase.id, phase])).values()]
    const old = unique(one)
    const more = unique(other).filter(({ id, title }) => old.every((phase) => phase.id !== id && phase.title !== title))
    assert.deepStrictEqual(
      parsed(samePrefix({ phases: old }, { phases: [...old, ...more] })).appended,
      more.map(({ id }) => id)
    )
  })
})
