/** Whole runs, told from their start to their end. */
import { assert, describe, it } from "@effect/vitest"
import { runActor } from "../src/machine/actor.ts"
import { noRun } from "../src/run/state.ts"
import { lineOf } from "./support/lines.ts"
import { item, onePhase, runId, withGates } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

/** What an onlooker sees: the public events, without the commands. */
const published = (s: Story) => s.sent.filter((one) => one._tag === "PublishEvent").map(lineOf)

const commandsTo = (s: Story, service: string) =>
  s.sent.flatMap((one) => (one._tag === "SendCommand" && one.service === service ? [one.command._tag] : []))

describe("a run", () => {
  it("completes its phases without a human when nothing goes wrong", () => {
    const s = story().executing(withGates)
    for (const commit of ["abc1", "abc2"]) s.worked(commit).gates(true).verdict("ready").treeClean()
    s.summaryWritten()
    const phase = (id: string) => [
      `PhaseStarted ${id}`,
      "StepStarted EXECUTE (phase-started)",
      "StepStarted QUALITY_CHECK (work-verified)",
      "StepStarted REVIEW (gates-passed)",
      "StepStarted PHASE_GATE (verdict-ready)",
      "StepStarted PHASE_COMPLETE (tree-clean)",
      `PhaseCompleted ${id} by review`
    ]
    assert.deepStrictEqual(published(s), [
      "RunStarted",
      "StepStarted PREPARE (run-started)",
      ...phase("1"),
      ...phase("2"),
      "RunCompleted"
    ])
    assert.deepStrictEqual(commandsTo(s, "gate"), [])
  })

  it("sends findings to the same author until the reviewer is satisfied", () => {
    const s = story().executing(withGates, onePhase).worked("abc1").gates(true)
    s.verdict("not_ready", item("R1"), item("R2")).worked("abc2").gates(false).worked("abc3").gates(true)
    s.verdict("ready_with_corrections", item("R3")).completes(undefined, { notes: "R3 is as it should be" })
    s.commitVerified().gates(true)
    assert.deepInclude(s.command("RequestReview").words[0], { from: "author", text: "R3 is as it should be" })
    s.verdict("ready").treeClean().summaryWritten()
    assert.strictEqual(s.run.status, "completed")
    const sessions = s.sent.flatMap((one) =>
      one._tag === "SendCommand" && one.command._tag === "StartTurn" ? [one.key] : []
    )
    assert.deepStrictEqual([...new Set(sessions)], [`${runId}-s1`])
    assert.strictEqual(sessions.length, 4)
  })

  it("asks, is told to continue, asks again, is told to fix, and is at last overridden", () => {
    const s = story().executing({}, onePhase)
    s.needsHuman("which database?").answer("continue-session", "the small one")
    s.reports({ result: "failed", reason: "it is too small" }).answer("fix", "then the big one")
    s.needsHuman("it costs").answer("override", "enough").treeClean().summaryWritten()
    assert.strictEqual(s.run.status, "completed")
    assert.deepStrictEqual(commandsTo(s, "session-manager"), [
      "StartTurn",
      "ContinueSession",
      "StartTurn",
      "ReleaseSession",
      "CompleteSession",
      "CompleteSession"
    ])
    assert.include(s.command("WriteSummary").text, "Phase 1, by anna: enough")
  })

  it("does nothing more once it is aborted at a question", () => {
    const s = story().executing().worked("abc1")
    s.verdict("not_ready", item("R1", "human_required")).answer("abort", "no way")
    assert.strictEqual(s.run.status, "aborted")
    assert.deepStrictEqual(s.lines, [
      "RunAborted",
      "session-manager AbortSession",
      "reviewer CloseReview",
      "workspace ReleaseWorkspace"
    ])
  })

  it("is not moved by anything that arrives twice", () => {
    const s = story().executing(withGates)
    const steps: ReadonlyArray<() => Story> = [
      () => s.completes("abc1"),
      () => s.commitVerified(),
      () => s.gates(false),
      () => s.completes(),
      () => s.commitVerified(),
      () => s.gates(true),
      () => s.verdict("not_ready", item("R1")),
      () => s.completes("abc2"),
      () => s.commitRejected()
    ]
    for (const step of steps) {
      step()
      const { state, told } = s
      if (told !== undefined) s.tell(told)
      assert.deepStrictEqual(s.lines, [], told?._tag)
      assert.deepStrictEqual(s.state, state)
    }
  })

  it("continues from its journal after a crash, with the same question, items and turn", () => {
    const s = story().executing().worked("abc1")
    s.verdict("not_ready", item("R1", "human_required"))
    assert.deepStrictEqual(s.journal.reduce(runActor.evolve, noRun), s.state)
    const revived = story()
    revived.state = JSON.parse(JSON.stringify(s.state))
    assert.deepStrictEqual(revived.question, s.question)
    assert.strictEqual(revived.answer("fix").run.step, "AUTO_FIX")
  })
})
