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

/** The checkpoint's task first. */
const moved = source
  .replace("- [ ] P2.1 Write the migration\n", "")
  .replace("- [ ] P2.3", "- [ ] P2.1 Write the migration\n- [ ] P2.3")

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
    ["goes to a task of another name", source.replace("Migrate the database (", "Write a comment (")],
    ["comes before what it is about", moved],
    [
      "goes to another task, in whose place its own one is",
      source
        .replace("Write the migration", "Migrate the database")
        .replace("P2.2 Migrate the database", "P2.2 Write the migration")
    ],
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

  it("may add a checkpoint, and tasks anywhere", () => {
    const plan = edited(
      source
        .replace("P2.3 Clean up", "P2.3 Clean up (checkpoint: decision)\n- [ ] P2.4 Tell everybody")
        .replace("Migrate the database", "migrate  the database")
    )
    assert.sameMembers(checkpoints(plan), ["P2.2 human-verify", "P2.3 decision"])
    assert.isFalse(plan.changes.some((change) => lost.test(change)))
  })

  it("keeps what comes after a checkpoint after it, and says so", () => {
    const plan = edited(
      source.replace("- [ ] P2.3 Clean up\n", "").replace("- [ ] P2.2", "- [ ] P2.3 Clean up\n- [ ] P2.2")
    )
    assert.deepStrictEqual(plan.phases[1]?.tasks, planOf(source).phases[1]?.tasks)
    assert.include(plan.changes.join("\n"), "phase 2 has task P2.3 'Clean up' in another place. This run keeps")
  })

  it("tells of another order where nobody is asked, and takes it", () => {
    const plain = source.replace(" (checkpoint: human-verify)", "")
    const plan = edited(
      plain.replace("- [ ] P2.3 Clean up\n", "").replace("- [ ] P2.2", "- [ ] P2.3 Clean up\n- [ ] P2.2"),
      planOf(plain).phases
    )
    assert.deepStrictEqual(
      plan.phases[1]?.tasks.map(({ id }) => id),
      ["P2.1", "P2.3", "P2.2"]
    )
    assert.include(plan.changes, "phase 2 has task P2.3 'Clean up' in another place.")
  })

  it("tells of a phase that it marks as complete and that the run has not done, and does it", () => {
    const marked = source
      .replace("## Phase 1: Begin", "## Phase 1: Begin - COMPLETE")
      .replace("## Phase 2: Migrate", "## Phase 2: Migrate - COMPLETE")
    const [first] = planOf(source).phases
    const plan = Result.getOrThrow(mergeEditedPlan(planOf(source).phases, planOf(marked), [first?.id ?? "1"]))
    assert.deepStrictEqual(
      plan.phases.map(({ done }) => done),
      [false, false]
    )
    assert.lengthOf(plan.changes, 1)
    assert.match(plan.changes.join(), /^phase 2 is marked as complete, and this run has not done it/)
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
