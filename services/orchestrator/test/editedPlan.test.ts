import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { mergeEditedPlan, toRunPlan } from "../src/run/plan.ts"

const source = `# Plan

## Phase 1: Begin

- [ ] P1.1 Start

## Phase 2: Migrate

**Completion gate:** both databases agree

- [ ] P2.1 Write the migration
- [ ] P2.2 Migrate the database (checkpoint: human-verify)
- [ ] P2.3 Clean up
`

const planOf = (text: string) => Result.getOrThrow(toRunPlan(text, "PLAN.md"))

const edited = (text: string, phases = planOf(source).phases) =>
  Result.getOrThrow(mergeEditedPlan(phases, planOf(text)))

const checkpoints = ({ phases }: ReturnType<typeof edited>) =>
  phases.flatMap(({ tasks }) =>
    tasks.flatMap(({ checkpoint, id }) => (checkpoint === undefined ? [] : [`${id} ${checkpoint}`]))
  )

describe("a plan that was edited during a run", () => {
  const lost = /^phase 2 has no longer the checkpoint human-verify of task P2\.2 'Migrate the database/

  it.each<[what: string, text: string]>([
    ["is taken from its task", source.replace(" (checkpoint: human-verify)", "")],
    ["goes with its task", source.replace(/- \[ \] P2\.2.*\n/, "")],
    ["becomes another one", source.replace("human-verify", "decision")],
    [
      "is put in a phase of its own at the end",
      `${source.replace(/- \[ \] P2\.2.*\n/, "")}\n## Phase 3: Later\n\n- [ ] P3.1 Migrate the database (checkpoint: human-verify)\n`
    ]
  ])("asks at a checkpoint all the same that %s, and says so", (_, text) => {
    const plan = edited(text)
    assert.include(checkpoints(plan), "P2.2 human-verify")
    assert.isTrue(
      plan.changes.some((change) => lost.test(change)),
      plan.changes.join("\n")
    )
  })

  it("may add a checkpoint, and move one within its phase", () => {
    const plan = edited(
      source
        .replace("P2.3 Clean up", "P2.3 Clean up (checkpoint: decision)")
        .replace("- [ ] P2.1 Write the migration\n", "")
        .replace("- [ ] P2.3", "- [ ] P2.1 Write the migration\n- [ ] P2.3")
    )
    assert.sameMembers(checkpoints(plan), ["P2.2 human-verify", "P2.3 decision"])
    assert.isFalse(plan.changes.some((change) => lost.test(change)))
  })

  it("is no matter for a phase that is done", () => {
    const phases = planOf(source).phases.map((phase) => ({ ...phase, done: true }))
    const plan = edited(source.replace(" (checkpoint: human-verify)", ""), phases)
    assert.deepStrictEqual([checkpoints(plan), plan.changes], [[], []])
  })

  it("tells of other words of a task, and of another completion gate", () => {
    const { changes } = edited(
      source.replace("Write the migration", "Write a comment").replace("both databases agree", "it compiles")
    )
    assert.deepStrictEqual(changes, [
      "task P2.1 'Write the migration' is now 'Write a comment'.",
      "the completion gate of phase 2 is now 'it compiles'."
    ])
  })
})
