import { assert, describe, it } from "@effect/vitest"
import { type CheckpointReport, type CompletedTask, PhaseId } from "@reprise/protocol"
import { resolutionSentence } from "../src/prompt/resolution.ts"
import { taskTable } from "../src/prompt/taskTable.ts"
import { item, onePhase } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const report = (type: CheckpointReport["type"], more: Partial<CheckpointReport> = {}): CheckpointReport => ({
  task: "P1.2",
  type,
  description: "What it is about",
  ...more
})
const steps = { verifySteps: ["Open the page", "Press the button"] }

describe("the sentence of a checkpoint's resolution", () => {
  it.each<[CheckpointReport, string, string]>([
    [report("decision"), "a: All red", "User chose Option a: All red"],
    [report("decision"), "other: Green\n  for now", "User chose Option other: Green for now"],
    [report("human-verify"), "passed", "User confirmed: pass"],
    [report("human-verify", steps), "passed", "User confirmed: 1. Open the page: pass; 2. Press the button: pass"],
    [report("human-verify"), "failed: it is crooked", "User confirmed: fail: it is crooked"],
    [
      report("human-verify", steps),
      "failed: 1 pass; 2: fail nothing happens",
      "User confirmed: 1. Open the page: pass; 2. Press the button: fail (nothing happens)"
    ],
    [
      report("human-verify", steps),
      "failed: 2. failed\nnothing happens",
      "User confirmed: 1. Open the page: no answer; 2. Press the button: fail (nothing happens)"
    ],
    [report("human-verify", steps), "failed: all of it", "User confirmed: fail: all of it"],
    [report("human-action"), "done: I made the key", "User confirms action completed: I made the key"],
    [report("human-action", { requiredAction: "Make a key" }), "done", "User confirms action completed: Make a key"],
    [report("human-action"), "cannot: no rights", "User could not complete the action: no rights"],
    [report("architectural-change"), "approve", "User approved approach: What it is about"],
    [report("architectural-change"), "other: use a queue", "User approved approach: use a queue"]
  ])("%j answered %j: %s", (checkpoint, resolution, sentence) => {
    assert.strictEqual(resolutionSentence(checkpoint, resolution), sentence)
  })

  it.each([
    "failed: 1 pass\n2 fail: it hangs",
    "failed: 1) passed, 2) failed - it hangs",
    "failed: #1 Pass;#2=FAIL it hangs"
  ])("understands %j", (said) => {
    const sentence = "User confirmed: 1. Open the page: pass; 2. Press the button: fail (it hangs)"
    assert.strictEqual(resolutionSentence(report("human-verify", steps), said), sentence)
  })

  it.each(["\n", " ", "1 ", ";", "1 pass:"])(
    "is made at once from %j repeated a hundred thousand times",
    (repeated) => {
      // The time of this thread alone: the machine may be busy with other things.
      const started = process.threadCpuUsage()
      resolutionSentence(report("human-verify", steps), `failed: 1${repeated.repeat(100_000)}y`)
      assert.isBelow(process.threadCpuUsage(started).user / 1_000, 3_000)
    }
  )

  it("is one line of bounded length, whatever the human wrote", () => {
    const sentence = resolutionSentence(report("decision"), `other: ${"many words\n".repeat(1_000)}`)
    assert.isBelow(sentence.length, 450)
    assert.notInclude(sentence, "\n")
  })
})

const planOf = (count: number): string =>
  `# Plan\n\n## Phase 1: Many things\n\n${Array.from({ length: count }, (_, n) => `- [ ] 02-01-T${n + 1} ${n % 2 === 0 ? "Wire the callback of the sign-in form" : "Handle the errors of the provider"}, part ${n + 1}\n`).join("")}`

const doneOf = (count: number): ReadonlyArray<CompletedTask> =>
  Array.from({ length: count }, (_, n) => ({
    id: `02-01-T${n + 1}`,
    commit: (n + 1).toString(16).padStart(40, "a"),
    files: Array.from(
      { length: 8 },
      (_, file) => `src/features/authentication/providers/part-${n + 1}/module-${file}.ts`
    )
  }))

/** A fresh author after a decision at the task that follows `count` tasks that are done. */
const continued = (count: number): Story => {
  const s = story().executing({}, planOf(count + 40))
  s.reports({
    result: "checkpoint",
    completedTasks: doneOf(count),
    checkpoint: { ...report("decision"), task: `02-01-T${count + 1}`, options: [{ id: "a", label: "By mail" }] }
  })
  return s.stateWritten().answer("a").stateWritten().tasksVerified()
}

/** Higher than what tokenizers of today count for such texts. */
const estimatedTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3)

describe("the continuation prompt", () => {
  for (const count of [5, 50, 500]) {
    it(`for ${count} done tasks stays under 1500 tokens`, () => {
      const { prompt } = continued(count)
      assert.isBelow(estimatedTokens(prompt), 1_500)
      assert.include(prompt, `Resume execution at Task ${count + 1} (02-01-T${count + 1}).`)
      assert.include(prompt, `Re-execute Task ${count + 1} with the user's input.`)
      assert.include(prompt, "User chose Option a: By mail")
    })
  }

  it("does not grow with the number of tasks", () => {
    const [small, large] = [continued(50).prompt.length, continued(500).prompt.length]
    assert.isBelow(large - small, 60)
  })

  it("refers to the plan and the record, and contains the instructions", () => {
    const { prompt } = continued(5)
    for (const text of [
      "Read the plan docs/plan.md and the record of completed tasks, .planning/phases/01-x/.continuation-state.json.",
      "| Task ID | Task Name | Commit | Files Changed | Status |",
      "Verify with `git log` that the commits in the record exist, and that its files are there.",
      "If any is missing, stop and report which: do not recreate it.",
      "Do not redo a task that is complete.",
      "Make one commit for each task that you do."
    ]) {
      assert.include(prompt, text)
    }
  })

  it("contains the first six open findings of the last review, and how many there are besides", () => {
    const promptWith = (findings: number) => {
      const s = story()
        .executing({ gates: { quality: ["x"] } })
        .worked("abc1")
        .gates(true)
      s.verdict("not_ready", ...Array.from({ length: findings }, (_, n) => item(`R${n + 1}`)))
      s.reports({ result: "complete", commit: "abc2", completedTasks: [{ id: "P1.1", commit: "abc2", files: [] }] })
      return s.commitVerified().agent("SessionExpired").gates(false).stateWritten().tasksVerified().prompt
    }
    const begin = "Open findings of the last review (docs/reviews/plan-phase-1-review.md):\n> - R1 [P1] Title of R1"
    assert.include(promptWith(6), begin)
    assert.notInclude(promptWith(6), "more, in that file")
    assert.include(promptWith(7), "- R6 [P1] Title of R6\n- and 1 more, in that file")
  })

  it("names the type of the checkpoint, and says that it is answered", () => {
    const { prompt } = continued(5)
    assert.include(prompt, "Checkpoint type: decision\n> User chose Option a: By mail")
    assert.include(
      prompt,
      "Re-execute Task 6 with the user's input. Its checkpoint is answered: do not stop there again."
    )
    assert.include(prompt, "needs a human, unless you are told that a human has answered there")
  })

  it("after a failed verification says that the new work is verified, too", () => {
    const s = story().executing({}, onePhase)
    const done = [{ id: "P1.1", commit: "abc1", files: ["a.ts"] }]
    s.reports({ result: "checkpoint", completedTasks: done, checkpoint: report("human-verify") })
    s.stateWritten().answer("fail", "crooked").stateWritten().tasksVerified()
    assert.include(s.prompt, "with the user's input. Commit it, and stop at its checkpoint again")
  })

  it("has one rule for commits", () => {
    const { prompt } = continued(5)
    assert.notInclude(prompt, "one or more commits")
    assert.include(
      story().executing().prompt,
      "Make one commit for each task that you do. Leave no uncommitted changes"
    )
  })

  it("names the summaries of the phases before, and so does the first prompt of a phase", () => {
    const s = story().executing().phaseApproved("abc1")
    const summaries =
      "Read the summaries of the phases before this one:\n- phase 1: .planning/phases/01-first-things/SUMMARY.md"
    assert.include(s.prompt, summaries)
    s.reports({ result: "needs_human", reason: "x", completedTasks: [{ id: "P2.1", commit: "abc2", files: [] }] })
    s.answer("fix").stateWritten().tasksVerified()
    assert.include(s.prompt, summaries)
  })

  it("after a verification that passed without a commit shows its task as complete", () => {
    const s = story().executing({}, onePhase)
    const done = [{ id: "P1.1", commit: "abc1", files: ["a.ts"] }]
    s.reports({ result: "checkpoint", completedTasks: done, checkpoint: report("human-verify") })
    s.stateWritten().answer("pass").stateWritten().tasksVerified()
    assert.include(s.prompt, "| P1.2 | Look | — | — | complete |\n> | P1.3 | End | — | — | pending |")
    assert.include(s.prompt, "Resume execution at Task 3 (P1.3). Skip Task 2 and continue from Task 3.")
  })
})

describe("the task table", () => {
  const planned = {
    id: PhaseId.make("1"),
    title: "x",
    done: false,
    tasks: Array.from({ length: 30 }, (_, n) => ({ id: `T${n + 1}`, name: "n" }))
  }
  const table = (count: number, place: Parameters<typeof taskTable>[2]) =>
    taskTable(
      planned,
      doneOf(count).map((task, n) => ({ ...task, id: `T${n + 1}` })),
      place
    ).split("\n")

  it("shows the tasks around the place to resume, and counts the others", () => {
    const lines = table(10, { checkpoint: "T11", resumeAt: "T11" })
    assert.deepStrictEqual(
      lines.slice(2, 14).map((line) => [line.split(" ")[2], line.split(" ").at(-2)]),
      [
        ["T3", "complete"],
        ["T4", "complete"],
        ["T5", "complete"],
        ["T6", "complete"],
        ["T7", "complete"],
        ["T8", "complete"],
        ["T9", "complete"],
        ["T10", "complete"],
        ["T11", "checkpoint"],
        ["T12", "pending"],
        ["T13", "pending"],
        ["T14", "pending"]
      ]
    )
    assert.strictEqual(
      lines.at(-1),
      "Not shown: 2 complete, 16 pending. The record lists the completed tasks, the plan lists all tasks."
    )
  })

  it("shows the tasks around the place to resume, not those around an earlier checkpoint", () => {
    const lines = table(20, { checkpoint: "T2", resumeAt: "T21" })
    assert.include(lines[2], "| T13 |")
    assert.include(lines.at(-1), "the checkpoint")
  })

  it("shows the last tasks when none is left", () => {
    const lines = table(30, {})
    assert.include(lines[2], "| T23 |")
    assert.strictEqual(
      lines.at(-1),
      "Not shown: 22 complete. The record lists the completed tasks, the plan lists all tasks."
    )
  })

  it("names completed tasks that are not in the plan", () => {
    const text = taskTable(undefined, [{ id: "X | 9", commit: "abc1234", files: [] }], {})
    assert.include(text, "| X / 9 |  | abc1234 | — | complete |")
  })
})
