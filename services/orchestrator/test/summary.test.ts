import { assert, describe, it } from "@effect/vitest"
import { renderSummary } from "@reprise/plan"
import { noTokens } from "@reprise/protocol"
import { Result } from "effect"
import { journalSummary } from "../src/machine/journalSummary.ts"
import { planWith } from "./support/checkpoints.ts"
import { item, onePhase, twoPhases } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const hash = (n: number) => n.toString(16).padEnd(40, "c")
const done = (id: string, n: number) => ({ id, commit: hash(n).slice(0, 12), files: [] })

/** As `reprise summary` makes it: from the journal alone. */
const summaryOf = (s: Story) => {
  const summary = Result.getOrThrow(journalSummary([s.journal]))
  if (summary === undefined) throw new Error("The journal holds no run")
  return summary
}

describe("the summary", () => {
  it("of a phase is written beside its record when it is complete, with the commits' subject lines", () => {
    const s = story().executing()
    s.completes(hash(2), { completedTasks: [done("P1.1", 1), done("P1.2", 2)] })
      .commitVerified()
      .verdict("ready")
    assert.deepStrictEqual(s.command("FinishPhase").commits, [done("P1.1", 1).commit, done("P1.2", 2).commit, hash(2)])
    s.tell({
      _tag: "PhaseFinished",
      runId: s.run.runId,
      phase: s.phase.id,
      head: hash(2),
      plan: s.run.source,
      subjects: [
        { commit: hash(1), subject: "feat: begin" },
        { commit: hash(2), subject: "feat: go on" }
      ]
    })
    const { path, phase, text } = s.command("WriteSummary")
    assert.deepStrictEqual([path, phase], [".planning/phases/01-first-things/SUMMARY.md", "1"])
    assert.include(text, "# Summary: Plan of two, phase 1")
    assert.include(text, `- **Commit**: \`${done("P1.1", 1).commit}\` - feat: begin\n- **Status**: complete`)
    assert.include(text, "- [x] P1.1 Begin\n- [x] P1.2 Go on")
    assert.notInclude(text, "Second things")
    assert.strictEqual(s.phaseSummarised().phase.id, "2")
  })

  it("names the tasks that were reported with the commit of another task", () => {
    const s = story()
      .executing()
      .completes(hash(1), { completedTasks: [done("P1.1", 1), done("P1.2", 1)] })
    assert.deepStrictEqual(summaryOf(s).deviations, ["Phase 1: Task P1.2 was reported with the commit of task P1.1."])
  })

  it("names the checkpoints that an override passes over", () => {
    const s = story().executing({}, planWith("decision"))
    s.reports({ result: "needs_human", reason: "x", completedTasks: [done("P1.2", 2)] })
      .answer("override")
      .treeClean()
    assert.include(
      summaryOf(s).deviations,
      "Phase 1: Task P1.2 was done without stopping at its checkpoint (decision)."
    )
  })

  it("of a phase that cannot be written does not keep the next one from beginning", () => {
    const s = story().executing().worked(hash(1)).verdict("ready")
    s.tell({ _tag: "PhaseFinished", runId: s.run.runId, phase: s.phase.id, head: hash(1), plan: s.run.source })
    s.tell({
      _tag: "WorkspaceFailed",
      runId: s.run.runId,
      phase: s.phase.id,
      operation: "WriteSummary",
      reason: "full"
    })
    assert.strictEqual(s.phase.id, "2")
  })

  it("counts tasks that a review approved and nobody listed as complete, in the commit that was reviewed", () => {
    const s = story().executing().phaseApproved(hash(7))
    assert.deepStrictEqual(
      summaryOf(s).phases[0]?.tasks.map(({ commit, status }) => [commit, status]),
      [
        [hash(7), "complete"],
        [hash(7), "complete"]
      ]
    )
  })

  it("claims nothing for a phase that was overridden, and says who did it and why", () => {
    const s = story().executing().needsHuman().answer("override", "good enough").treeClean()
    const { overrides, phases } = summaryOf(s)
    assert.deepStrictEqual(
      phases[0]?.tasks.map(({ status }) => status),
      ["pending", "pending"]
    )
    assert.deepStrictEqual(overrides, [{ phase: s.run.outcomes[0]?.id ?? "", by: "anna", reason: "good enough" }])
  })

  it("reports a verification that failed and never passed, although the phase was approved", () => {
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    const s = story()
      .executing({}, onePhase)
      .reports({ result: "checkpoint", commit: hash(2), checkpoint })
    s.stateWritten().answer("fail", "crooked").stateWritten().tasksVerified()
    assert.deepStrictEqual(summaryOf(s).deviations, [])
    s.phaseApproved(hash(3))
    assert.deepStrictEqual(summaryOf(s).deviations, [
      "Phase 1: Task P1.2 was not verified again after this: failed: crooked"
    ])
  })

  it("of a run under way shows an open checkpoint, and a box that is ticked before its task is done", () => {
    const s = story().executing({}, onePhase.replace("[ ] P1.3", "[x] P1.3"))
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    s.reports({ result: "checkpoint", checkpoint, completedTasks: [done("P1.1", 1), done("P1.2", 2)] })
    const summary = summaryOf(s.stateWritten())
    assert.deepStrictEqual(
      summary.phases[0]?.tasks.map(({ status }) => status),
      ["complete (pre-checkpoint)", "checkpoint", "pending"]
    )
    assert.include(renderSummary(summary), "- [ ] P1.3 End (ticked in the plan)")
  })

  it("reports what the author said about findings once, a changed architecture, unplanned tasks and work that was done twice", () => {
    const s = story().executing({}, twoPhases)
    const checkpoint = { task: "P1.1", type: "architectural-change", description: "A queue" } as const
    s.reports({ result: "checkpoint", checkpoint, completedTasks: [done("X9", 1)] }).stateWritten()
    s.answer("approve").stateWritten()
    s.tell({
      _tag: "ContinuationRejected",
      runId: s.run.runId,
      phase: s.phase.id,
      missingCommits: [done("X9", 1).commit],
      missingFiles: []
    })
    s.answer("redo").stateWritten().tasksVerified()
    s.completes(hash(3), { completedTasks: [done("X9", 2)] })
      .commitVerified()
      .verdict("not_ready", item("R1"))
    const notes = "R1 is as the plan wants it."
    s.completes(hash(4), { notes }).commitVerified().verdict("not_ready", item("R1"))
    s.completes(hash(5), { notes }).commitVerified().verdict("ready").treeClean()
    assert.deepStrictEqual(summaryOf(s).deviations, [
      `Phase 1: Task X9 was done again: its work in commit ${done("X9", 1).commit} was missing.`,
      "Phase 1: The author on the review's findings: R1 is as the plan wants it.",
      "Phase 1: Task X9 is not in the plan.",
      "Phase 1: At task P1.1 the author asked for another architecture. User approved approach: A queue"
    ])
  })

  it("names tasks of other phases, commits that git does not know and questions about no task of the phase", () => {
    const s = story().executing()
    const checkpoint = {
      task: "X9",
      type: "decision",
      description: "Now?",
      options: [{ id: "a:b", label: "Yes" }]
    } as const
    s.reports({ result: "checkpoint", checkpoint, completedTasks: [done("P1.1", 1)] }).stateWritten()
    s.answer("a:b", "at once").stateWritten().tasksVerified()
    s.completes(hash(4), { completedTasks: [done("P1.2", 2), done("P2.1", 4)] })
    s.commitVerified().verdict("ready")
    const { id } = s.phase
    const subjects = [hash(1), hash(4)].map((commit) => ({ commit, subject: "feat: it" }))
    s.tell({ _tag: "PhaseFinished", runId: s.run.runId, phase: id, head: hash(4), plan: s.run.source, subjects })
    const { deviations, phases } = summaryOf(s)
    assert.deepStrictEqual(deviations, [
      "Phase 1: Task P2.1 belongs to phase 2.",
      `Phase 1: Task P1.2 was reported with commit ${done("P1.2", 2).commit}, which git does not know.`,
      "Phase 1: A human was asked at X9 (decision), which is not a task of this phase. User chose Option a:b: Yes. at once"
    ])
    assert.deepStrictEqual(
      phases[0]?.tasks.map(({ commit }) => commit),
      [done("P1.1", 1).commit, hash(4), undefined]
    )
    assert.deepStrictEqual(phases[0]?.tasks[2], {
      id: "X9",
      name: "X9",
      status: "complete (post-checkpoint)",
      checkpoint: "decision",
      resolution: "a:b: Yes. at once"
    })
  })

  it("says that a task that was redone after its verification was not verified again", () => {
    const s = story().executing({}, onePhase)
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    s.reports({ result: "checkpoint", checkpoint, completedTasks: [done("P1.1", 1), done("P1.2", 2)] }).stateWritten()
    s.answer("pass").stateWritten()
    const missingCommits = [done("P1.1", 1).commit, done("P1.2", 2).commit]
    s.tell({ _tag: "ContinuationRejected", runId: s.run.runId, phase: s.phase.id, missingCommits, missingFiles: [] })
    s.answer("redo").stateWritten().tasksVerified()
    const statuses = () => summaryOf(s).phases[0]?.tasks.map(({ status }) => status)
    assert.deepStrictEqual(statuses(), ["pending", "checkpoint", "pending"])
    const again = ["P1.1", "P1.2", "P1.3"].map((id, n) => done(id, n + 3))
    s.completes(hash(5), { completedTasks: again }).commitVerified().verdict("ready").treeClean()
    assert.deepStrictEqual(
      statuses(),
      Array.from({ length: 3 }, () => "complete (post-checkpoint)")
    )
    assert.deepStrictEqual(summaryOf(s).deviations.slice(-1), [
      "Phase 1: Task P1.2 was not verified again after this: lost with its work: passed"
    ])
  })

  it("of a phase without items has the tasks that its author made of it", () => {
    const s = story().executing({}, "# Plan\n\n## Phase 1: In words\n\nDo it well.\n")
    s.completes(hash(2), { completedTasks: [done("P1.1", 1), done("P1.2", 2)] }).commitVerified()
    s.verdict("ready").treeClean()
    const summary = summaryOf(s)
    assert.deepStrictEqual(summary.deviations, [])
    assert.include(renderSummary(summary), "### Task 2: P1.2\n\n- **Id**: `P1.2`")
    assert.include(renderSummary(summary), "- [x] P1.1\n- [x] P1.2")
  })

  it("of a phase whose title changed is still written beside its record", () => {
    const s = story().executing()
    s.needsHuman().answer("fix")
    s.reports({ result: "needs_human", reason: "x", completedTasks: [done("P1.1", 1)] }).answer("fix")
    s.stateWritten(".planning/phases/01-first-things/.continuation-state.json").tasksVerified()
    s.worked(hash(2)).verdict("ready")
    const plan = s.run.source.replace("First things", "Beginnings").replace("P1.2 Go on", "P1.3 Go on")
    s.tell({ _tag: "PhaseFinished", runId: s.run.runId, phase: s.phase.id, head: hash(2), plan })
    assert.strictEqual(s.command("WriteSummary").path, ".planning/phases/01-first-things/SUMMARY.md")
    assert.include(s.run.notices, "The plan was edited: phase 1 is called 'Beginnings' now.")
    assert.include(s.run.notices, "The plan was edited: tasks of phase 1 changed: gone: P1.2; new: P1.3.")
  })

  it("counts what continuation saved, by phase and for the run", () => {
    const s = story().executing({}, onePhase)
    const checkpoint = { task: "P1.2", type: "human-verify", description: "Look" } as const
    const status = { result: "checkpoint", checkpoint, completedTasks: [done("P1.1", 1)] } as const
    s.tell(s.turnReport(status, { context: { tokens: 12_345 } })).claimsVerified()
    s.stateWritten().answer("pass").stateWritten().tasksVerified().completes(hash(2)).commitVerified()
    s.verdict("not_ready", item("R1"))
    const { sessionId, turnId } = s.pending("Turn")
    s.tell({ _tag: "SessionReused", runId: s.run.runId, sessionId, turnId, runtimeSessionId: "x", reason: "auto-fix" })
    s.tell(s.turnReport({ result: "complete" }, { tokens: { ...noTokens, cacheRead: 777 } }))
    assert.deepStrictEqual(summaryOf(s).saved, { continuedTurns: 1, cachedTokens: 777, unsentTokens: 12_345 })
  })

  it("is undefined for a journal without a run", () => {
    assert.isUndefined(Result.getOrThrow(journalSummary([])))
    assert.isTrue(Result.isFailure(journalSummary([[{ _tag: "NoSuchEvent" }]])))
  })
})
