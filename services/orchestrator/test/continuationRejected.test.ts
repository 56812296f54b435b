import { assert, describe, it } from "@effect/vitest"
import type { CheckpointReport } from "@reprise/protocol"
import { at, decision, done } from "./support/checkpoints.ts"
import { row } from "./support/row.ts"
import { item, onePhase, runId } from "./support/samples.ts"
import { story } from "./support/story.ts"

describe("a continuation that is rejected", () => {
  const rejected = (options = {}) => {
    const s = at(decision, options)
    if (s.run.status === "waiting") s.answer("red")
    const missing = { missingCommits: ["abc1234"], missingFiles: ["b.ts"] }
    return s.stateWritten().tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, ...missing })
  }

  it("asks a human to retry, redo or abort, and says exactly what is missing", () => {
    const s = rejected()
    assert.deepStrictEqual(s.lines, ["gate RaiseEscalation", "StepWaiting CHECKPOINT"])
    const { evidence, origin } = s.question.ask
    assert.deepStrictEqual(
      [origin, evidence.missingCommits, evidence.missingFiles],
      ["continuation", ["abc1234"], ["b.ts"]]
    )
    assert.deepStrictEqual(s.choices, ["retry", "redo", "abort"])
  })

  it("is verified once more on retry", () => {
    const s = rejected().answer("retry")
    assert.deepStrictEqual(s.lines, ["StepResumed CHECKPOINT (answer)", "workspace WriteContinuationState"])
    assert.deepStrictEqual(s.stateWritten().lines, ["workspace VerifyContinuation"])
  })

  it("has the missing tasks done again on redo", () => {
    const s = rejected().answer("redo")
    assert.deepStrictEqual(s.phase.completedTasks, [])
    assert.deepStrictEqual(s.command("WriteContinuationState").completedTasks, [])
    assert.strictEqual(s.command("WriteContinuationState").resumeAt, "P1.1")
    assert.strictEqual(s.stateWritten().tasksVerified().run.step, "EXECUTE")
    assert.include(s.prompt, "Resume execution at Task 1 (P1.1). When you come to it: Re-execute Task 2")
    assert.include(s.prompt, "User chose Option red")
  })

  it("has only the tasks done again on redo whose files are missing", () => {
    const both = [...done, { id: "P1.3", commit: "bcd2345", files: ["b.ts"] }]
    const s = story().executing({}, onePhase).reports({ result: "needs_human", reason: "x", completedTasks: both })
    s.answer("fix").stateWritten()
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits: [], missingFiles: ["b.ts"] })
    assert.deepStrictEqual(s.answer("redo").command("WriteContinuationState").completedTasks, done)
  })

  const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
  const passedAndLost = (missingCommits: ReadonlyArray<string>, more: { readonly keeps?: string } = {}) => {
    const s = story().executing({}, onePhase)
    const both = [...done, { id: "P1.2", commit: "bcd2345", files: [] }]
    s.reports({ result: "checkpoint", completedTasks: both, checkpoint: verify }).stateWritten()
    s.answer("pass", more.keeps).stateWritten()
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits, missingFiles: [] })
    return s.answer("redo")
  }

  it("asks a human again about verified work that is redone, and keeps what they wrote", () => {
    const s = passedAndLost(["bcd2345"], { keeps: "and mind the margins" })
    const { checkpoint, completedTasks, resolution, resumeAt } = s.command("WriteContinuationState")
    assert.deepStrictEqual([checkpoint, completedTasks, resolution, resumeAt], [undefined, done, undefined, "P1.2"])
    s.stateWritten().tasksVerified()
    assert.include(s.prompt, "| P1.2 | Look | — | — | pending |")
    assert.include(s.prompt, "Resume execution at Task 2 (P1.2).")
    assert.notInclude(s.prompt, "Skip")
    assert.notInclude(s.prompt, "User confirmed")
    assert.include(s.prompt, "additional guidance:\n> At the checkpoint of P1.2 (passed):\nand mind the margins")
  })

  it("lets the author begin like the first one when everything is redone", () => {
    const s = passedAndLost(["abc1234", "bcd2345"]).stateWritten().tasksVerified()
    assert.notInclude(s.prompt, "Skip")
    assert.notInclude(s.prompt, "other agents before you")
    assert.include(s.prompt, "- P1.2: Look")
  })

  it("resumes on redo at the first task in the plan that is lost or not yet done", () => {
    const s = story().executing({}, onePhase)
    const later = [{ id: "P1.3", commit: "cde3456", files: [] }, ...done]
    s.reports({ result: "checkpoint", completedTasks: later, checkpoint: { ...decision, task: "P1.2" } }).stateWritten()
    s.answer("red").stateWritten()
    const lost = (...missingCommits: ReadonlyArray<string>) => {
      s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits, missingFiles: [] })
      s.answer("redo")
      const { resumeAt } = s.command("WriteContinuationState")
      s.stateWritten()
      return resumeAt
    }
    assert.strictEqual(lost("cde3456"), "P1.2")
    assert.strictEqual(lost("abc1234"), "P1.1")
  })

  it("skips a verified task when the author comes to it after a redo of earlier tasks", () => {
    const s = passedAndLost(["abc1234"]).stateWritten().tasksVerified()
    assert.include(s.prompt, "Resume execution at Task 1 (P1.1). When you come to it: Skip Task 2.")
    assert.include(s.prompt, "| P1.2 | Look | bcd2345 | — | complete |")
  })

  it("counts thousands of missing files in the reason, and lists them all in the evidence", () => {
    const s = at(decision).answer("red").stateWritten()
    const missingFiles = Array.from({ length: 5000 }, (_, n) => `file-${n}.ts`)
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits: ["abc1234"], missingFiles })
    const { evidence, reason } = s.question.ask
    assert.include(reason, "commit abc1234, file-0.ts, ")
    assert.include(reason, "file-18.ts and 4981 more.")
    assert.deepStrictEqual(evidence.missingFiles, missingFiles)
  })

  it("counts the phase from the newest shared commit on redo after the history was rewritten", () => {
    const s = at(decision).answer("red").stateWritten()
    assert.deepStrictEqual(s.command("VerifyContinuation").base, s.phase.base)
    const missing = { missingCommits: ["abc1234"], missingFiles: [], base: "0000aaaa" }
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, ...missing })
    const began = s.phase.base
    s.answer("redo").stateWritten().tasksVerified().completes("bcd2345")
    assert.deepInclude(s.command("VerifyCommit"), { base: "0000aaaa", phaseBase: began })
  })

  it("counts the phase from the newest shared commit, and says so, when no task is lost", () => {
    const s = story().executing().reports({ result: "checkpoint", checkpoint: decision }).stateWritten()
    s.answer("red").stateWritten()
    const began = s.phase.base
    s.tell({ _tag: "ContinuationVerified", runId, phase: s.phase.id, base: "0000aaaa" }).completes("bcd2345")
    assert.deepInclude(s.command("VerifyCommit"), { base: "0000aaaa", phaseBase: began })
    assert.include(s.run.notices.join(), "counts from 0000aaaa now")
  })

  it("requires the newest verified commit too; redo keeps the tasks and requires a new commit", () => {
    const s = story().executing().completes("bcd2345", { completedTasks: done }).commitVerified()
    s.verdict("not_ready", item("R1")).needsHuman().answer("fix").stateWritten()
    assert.strictEqual(s.command("VerifyContinuation").verified, "bcd2345")
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, missingCommits: ["bcd2345"], missingFiles: [] })
    s.answer("redo").stateWritten()
    assert.deepStrictEqual(s.phase.completedTasks, done)
    s.tasksVerified().completes()
    assert.include(s.prompt, "the hash of the commit that holds the work is missing")
    s.completes("cde3456")
    assert.strictEqual(s.command("VerifyCommit").base, s.phase.base)
  })

  it("names 'git fetch --unshallow' in a shallow clone", () => {
    const s = at(decision).answer("red").stateWritten()
    const missing = { missingCommits: ["abc1234"], missingFiles: [] }
    s.tell({ _tag: "ContinuationRejected", runId, phase: s.phase.id, ...missing, shallow: true })
    assert.include(s.question.ask.reason, "git fetch --unshallow")
  })

  it("has the missing tasks done again in auto mode", () => {
    assert.deepStrictEqual(rejected({ auto: true }).lines, ["workspace WriteContinuationState"])
  })

  it("ignores reports of another verification", () => {
    row(at(decision), { _tag: "ContinuationVerified", runId, phase: story().executing().phase.id }).then([])
  })
})
