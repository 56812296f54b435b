import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { parsePlan, taskList } from "../src/index.ts"
import { parsed } from "./plans.ts"

const folder = new URL("../../../examples/", import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), "utf8")

describe("the example plans", () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md"))(
    "%s is a plan",
    (name) => {
      const plan = parsed(parsePlan(read(name)))
      assert.deepStrictEqual(plan.notes, [])
      assert.strictEqual(plan.source, read(name))
      assert.isTrue(plan.phases.every((phase) => !phase.done && phase.tasks.every((task) => !task.checked)))
    }
  )

  it("hello.md has two phases", () => {
    const plan = parsed(parsePlan(read("hello.md")))
    assert.deepStrictEqual(
      plan.phases.map((phase) => [phase.id, phase.title, taskList(phase).map((task) => task.id)]),
      [
        ["1", "Greet", ["P1.1", "P1.2"]],
        ["2", "Greet by name", ["P2.1", "P2.2", "P2.3"]]
      ]
    )
  })

  it("auth.md has a checkpoint of every type", () => {
    const plan = parsed(parsePlan(read("auth.md")))
    assert.strictEqual(plan.id, "02-01")
    assert.deepStrictEqual(
      plan.phases.flatMap((phase) =>
        phase.tasks.flatMap((task) => (task.checkpoint ? [[phase.id, task.id, task.checkpoint]] : []))
      ),
      [
        ["1", "02-01-T1", "decision"],
        ["1", "02-01-T2", "human-action"],
        ["2.1", "02-01-T7", "human-verify"],
        ["2.2", "02-01-T9", "architectural-change"]
      ]
    )
  })
})
