import { assert, describe, it } from "@effect/vitest"
import { Host, RunId } from "@reprise/protocol"
import { Result } from "effect"
import { row } from "../support/row.ts"
import { decodeOptions, head, onePhase, runId, startRun } from "../support/samples.ts"
import { story } from "../support/story.ts"

describe("PREPARE", () => {
  it("asks the workspace to prepare itself when a run is started", () => {
    const started = row([], startRun())
    assert.deepStrictEqual(started.lines, [
      "RunStarted",
      "StepStarted PREPARE (run-started)",
      "workspace PrepareWorkspace"
    ])
    assert.strictEqual(started.state._tag, "Run")
  })

  it("starts the first phase that is not approved when the workspace is ready", () => {
    const plan = onePhase
      .replace("Only things", "Only things - COMPLETE")
      .concat("\n## Phase 2: More\n\n- [ ] P2.1 Do\n")
    const { lines } = story().start({}, plan).prepared()
    assert.deepStrictEqual(lines, [
      "PhaseStarted 2",
      "StepStarted EXECUTE (phase-started)",
      "session-manager StartTurn"
    ])
  })

  it("counts the phase from before the commits that no run has finished, and says so", () => {
    const place = { runId, host: Host.make("h"), directory: "/repo", head: "c2", base: "c1", branch: "main" } as const
    const { phase, run } = story()
      .start()
      .tell({ _tag: "WorkspacePrepared", ...place })
    assert.strictEqual(phase.base, "c1")
    assert.deepStrictEqual(run.notices, [
      "The branch has commits that no run has finished: c1..c2. They are gated and reviewed with the first phase of this run."
    ])
  })

  it("notes that the workspace is on no branch", () => {
    const detached = { _tag: "WorkspacePrepared", runId, host: Host.make("h"), directory: "/repo", head } as const
    assert.match(story().start().tell(detached).run.notices.join(), /HEAD is on no branch/)
    assert.deepStrictEqual(story().start().prepared().run.notices, [])
  })

  it("starts with the phase that the options name", () => {
    const s = story().executing({ startPhase: "2" })
    assert.strictEqual(s.phase.id, "2")
    assert.deepStrictEqual(
      s.run.phases.map((phase) => phase.done),
      [true, false]
    )
  })

  it("starts with the phase that the options name although the plan marks it done", () => {
    const plan = onePhase.replace("Only things", "Only things - COMPLETE")
    assert.strictEqual(story().executing({ startPhase: "1" }, plan).phase.id, "1")
  })

  it("a plan whose phases are all done completes at once", () => {
    const s = story().start({}, onePhase.replace("Only things", "Only things - COMPLETE"))
    assert.deepStrictEqual(s.lines, ["RunStarted", "RunCompleted"])
    assert.strictEqual(s.run.status, "completed")
  })

  it("a plan that cannot be read fails the run at once, with line and column, and touches nothing", () => {
    const s = story().start({}, "# Plan\n\n## Phase one: no number\n")
    assert.deepStrictEqual(s.lines, ["RunFailed"])
    assert.match(s.run.reason ?? "", /docs\/plan\.md cannot be read: line \d+, column \d+/)
  })

  it("a plan without phases fails the run at once", () => {
    assert.deepStrictEqual(row([], startRun({}, "# Just words\n")).lines, ["RunFailed"])
  })

  it("a start phase that the plan does not have fails the run at once", () => {
    const s = story().start({ startPhase: "7" })
    assert.deepStrictEqual(s.lines, ["RunFailed"])
    assert.strictEqual(s.run.reason, "The plan has no phase 7. It has 1, 2.")
  })

  for (const kind of ["dirty-tree", "not-a-repository", "in-use"] as const) {
    it(`fails the run at once with the reason when the workspace is refused (${kind})`, () => {
      const refused = row(story().start(), { _tag: "WorkspaceRefused", runId, kind, reason: "because" })
      refused.then([{ _tag: "RunFailed", runId, reason: `The workspace cannot be used (${kind}): because` }])
      assert.deepInclude(refused.state, { status: "failed" })
    })
  }

  it("fails the run when the workspace cannot be prepared", () => {
    const s = story()
      .start()
      .tell({ _tag: "WorkspaceFailed", runId, operation: "PrepareWorkspace", reason: "disk full" })
    assert.deepStrictEqual(s.lines, ["RunFailed"])
  })

  it("ignores a repeated StartRun with the same content", () => {
    row(story().start(), startRun()).then([])
    row(story().executing(), { ...startRun(), options: decodeOptions({}) }).then([])
  })

  it("refuses a repeated StartRun with other content", () => {
    row(story().start(), startRun({ auto: true })).refused(/was started with another plan, workspace or options/)
    row(story().start(), startRun({}, onePhase)).refused(/another plan/)
  })

  it("begins with nothing counted, used again or withdrawn", () => {
    assert.deepInclude(story().start().run, { counted: [], reusing: [], withdrawn: [] })
  })

  it("refuses a command that was sent to another run than it names", () => {
    const s = story().executing()
    const elsewhere = { key: RunId.make("r2-test") }
    const decision = s.try({ _tag: "AbortRun", runId, reason: "x" }, elsewhere)
    assert.deepInclude(Result.getOrThrow(Result.flip(decision)), {
      code: "misaddressed",
      reason: "The message for r2-test names run r1-test: they must be the same."
    })
    assert.strictEqual(s.run.status, "running")
  })

  it("refuses other commands to a run that does not exist, and ignores events", () => {
    row([], { _tag: "AbortRun", runId, reason: "x" }).refused(/There is no run r1-test/)
    row([], {
      _tag: "WorkspacePrepared",
      runId,
      host: story().start().command("PrepareWorkspace").host,
      directory: "/",
      head
    }).then([])
  })
})
