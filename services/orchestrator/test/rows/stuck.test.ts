/** The watch over runs reports that what a run waits for is not under way. */
import { assert, describe, it } from "@effect/vitest"
import { noUsage, TurnId } from "@reprise/protocol"
import { runActor } from "../../src/machine/actor.ts"
import { runView } from "../../src/machine/view.ts"
import { nothing, type Run } from "../../src/run/state.ts"
import { runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const missing = "It is nowhere."
const executing = () => story().executing()

describe("a run that is running with nothing under way", () => {
  it("asks a human about its lost turn, with continue where the session is usable, and ends the turn should it begin", () => {
    const s = executing().isStuck({ missing })
    assert.deepStrictEqual(s.lines, ["session-manager InterruptTurn", "gate RaiseEscalation", "StepWaiting EXECUTE"])
    const { ask } = s.question
    assert.deepStrictEqual([ask.origin, ask.reason, ask.sessionId], ["runtime", missing, s.author])
    assert.include(s.choices, "continue-session")
    assert.deepStrictEqual(s.answer("continue-session").lines.slice(-1), ["session-manager ContinueSession"])
  })

  it("offers only a new session where the author's has ended or is not known", () => {
    for (const session of ["ended", "doubtful"] as const) {
      const s = executing().isStuck({ session })
      assert.notInclude(s.choices, "continue-session")
      assert.isString(s.question.ask.evidence.continueUnavailable)
      assert.strictEqual(s.answer("fix").command("StartTurn").session._tag, "New")
    }
  })

  it.each([
    ["ended", "session-missing", false],
    ["doubtful", "runtime", true]
  ] as const)("says of a session that is %s that its turn failed (%s)", (session, kind, mayLive) => {
    const s = executing().isStuck({ missing, session })
    const { evidence } = s.question.ask
    assert.strictEqual(evidence.continueUnavailable, `its last turn failed (${kind}): ${missing}`)
    assert.strictEqual(evidence.sessionId, mayLive ? s.author : undefined, "a human can open it")
    assert.strictEqual(s.answer("fix").lines.includes("session-manager ReleaseSession"), mayLive)
  })

  it("tells the author again what was said in the prompt of its lost turn", () => {
    const s = executing().needsHuman().answer("continue-session", "Use tabs.").isStuck().answer("continue-session")
    assert.strictEqual(s.command("ContinueSession").guidance?.includes("Use tabs."), true)
  })

  it("asks about a lost review, and reviews again with a fresh reviewer", () => {
    const s = executing().worked("abc0001").isStuck({ missing })
    assert.deepStrictEqual([s.question.ask.origin, s.question.ask.reason], ["reviewer", missing])
    assert.notInclude(s.choices, "continue-session")
    s.answer("fix")
    assert.deepStrictEqual(s.lines.slice(-2), ["reviewer CloseReview", "reviewer RequestReview"])
  })

  it("keeps for the next phase what is said when an approved phase could not be finished", () => {
    const s = executing().worked("abc0001").verdict("ready").isStuck({ missing })
    s.answer("fix", "Use tabs from now on.")
    assert.deepStrictEqual(s.lines, ["StepResumed PHASE_GATE (answer)", "workspace FinishPhase"])
    assert.include(s.treeClean().prompt, "Use tabs from now on.")
    assert.strictEqual(s.run.phase?.id, "2")
  })

  it("asks about lost work of the workspace, and asks the workspace again", () => {
    const s = executing().completes("abc0001").isStuck({ missing })
    assert.deepStrictEqual(
      [s.question.ask.origin, s.question.ask.reason],
      ["workspace", `VerifyCommit failed: ${missing}`]
    )
    assert.deepStrictEqual(s.answer("fix").lines.slice(-1), ["workspace VerifyCommit"])
  })

  it("fails when its workspace was never prepared, and releases it", () => {
    const s = story().start().isStuck({ missing })
    assert.deepStrictEqual(s.lines, ["RunFailed", "workspace ReleaseWorkspace"])
    assert.strictEqual(s.run.reason, `The workspace cannot be prepared: ${missing}`)
  })

  it("asks when the agent that worked by itself is idle and nobody said so", () => {
    const stuck = () => executing().needsHuman().agentWorks()
    const s = stuck().isStuck({ missing })
    assert.deepStrictEqual([s.question.ask.origin, s.question.ask.reason], ["runtime", missing])
    assert.include(s.choices, "continue-session")
    for (const session of ["ended", "doubtful"] as const) {
      assert.notInclude(stuck().isStuck({ session }).choices, "continue-session")
    }
  })

  it("tries again by itself in auto mode, and counts it", () => {
    const s = story().executing({ auto: true }).isStuck({ missing })
    assert.deepStrictEqual(s.phase.autoRetries, [missing])
    assert.strictEqual(s.run.pending._tag, "Turn")
  })

  it("is paused when it was to pause once that had finished, and asks after it was resumed", () => {
    const s = executing().tell({ _tag: "PauseRun", runId, now: false }).isStuck({ missing })
    assert.deepStrictEqual([s.lines, s.run.notices.at(-1)], [["RunPaused"], missing])
    s.tell({ _tag: "ResumeRun", runId }).isStuck()
    assert.strictEqual(s.question.ask.origin, "runtime")
  })

  it("asks a human about the lost turn of a standalone session, which goes on in the same session", () => {
    const s = story().standalone().isStuck({ missing })
    const { ask } = s.question
    assert.deepStrictEqual([ask.origin, ask.reason, ask.sessionId], ["runtime", missing, s.author])
    assert.deepStrictEqual(s.choices, ["continue-session", "fix", "abort"])
    const again = s.answer("continue-session").command("StartTurn")
    assert.deepStrictEqual([again.session, again.fresh], [{ _tag: "Existing", sessionId: s.author }, undefined])
    const unopened = story().standalone().isStuck({ session: "doubtful" })
    assert.deepStrictEqual(unopened.choices, ["fix", "abort"])
    assert.isTrue(unopened.answer("fix").command("StartTurn").fresh)
  })

  it("asks even where, against all rules, it waits for nothing", () => {
    const state: Run = { ...executing().run, pending: nothing }
    const input = { _tag: "ReportStuck", runId, updatedAt: state.updatedAt, missing, session: "doubtful" } as const
    const decision = runActor.decide(state, input, { id: "m", key: runId, now: state.updatedAt })
    assert.include(JSON.stringify(decision), `"origin":"runtime","reason":"${missing}"`)
  })
})

describe("a report of the watch changes nothing", () => {
  const unchanged = (s: Story, tell: (s: Story) => Story) => {
    const before = s.run
    assert.deepStrictEqual([tell(s).lines, s.run], [[], before])
  }

  it("when it is repeated, by whichever orchestrator", () => {
    const s = executing()
    const report = s.stuckReport()
    s.tell(report)
    unchanged(s, () => s.tell(report))
  })

  it("when the run has changed since", () => {
    const s = executing()
    const report = s.stuckReport()
    s.tell({ _tag: "SessionCreated", runId, sessionId: s.author, role: "author", runtimeSessionId: "x" } as never)
    unchanged(s, () => s.tell(report))
  })

  it("when the run waits for something else in the same moment", () => {
    const s = executing(),
      { waitsFor } = s.stuckReport()
    s.completes("abc0001")
    unchanged(s, () => s.isStuck({ ...(waitsFor === undefined ? {} : { waitsFor }) }))
  })

  it("when the run waits for a human, is paused, or has ended", () => {
    for (const s of [
      executing().needsHuman(),
      executing().agentPrompts("p1"),
      executing().tell({ _tag: "PauseRun", runId, now: true }),
      executing().tell({ _tag: "AbortRun", runId, reason: "enough" })
    ]) {
      unchanged(s, () => s.isStuck())
    }
  })

  it("when the run of a standalone session has not waited for that long, or is never to ask", () => {
    for (const stuckAfterMs of [1001, 0]) {
      const s = story().standalone({ stuckAfterMs })
      unchanged(s, () => s.isStuck())
    }
    const byDefault = story().standalone({ stuckAfterMs: undefined } as object)
    unchanged(byDefault, () => byDefault.isStuck())
  })

  it("when there is no such run", () => {
    const report = executing().stuckReport()
    assert.deepStrictEqual(story().tell(report).lines, [])
  })
})

describe("a result that comes after the question was raised", () => {
  it("is counted once, and leaves the question as it is", () => {
    const s = executing()
    const late = s.turnReport({ result: "complete", commit: "abc0001" })
    s.isStuck()
    const { question } = s
    s.tell(late).tell(late)
    assert.deepStrictEqual([s.question, s.run.usage.author.turns, s.run.usage.author.cost], [question, 1, late.cost])
    s.tell({ ...late, _tag: "TurnFailed", kind: "aborted", message: "x", sessionUsable: true, ...noUsage } as never)
    assert.deepStrictEqual(s.question, question)
  })

  it("is counted once also when another turn was counted since", () => {
    const s = executing()
    const late = s.turnReport({ result: "complete", commit: "abc0001" })
    s.isStuck().tell(late).answer("fix").completes("abc0002").tell(late)
    assert.strictEqual(s.run.usage.author.turns, 2)
  })

  it("is counted once also when many turns were counted since, of which a run remembers the last two hundred", () => {
    const s = executing()
    const late = s.turnReport({ result: "complete", commit: "abc0001" })
    const others = (count: number) => Array.from({ length: count }, (_, n) => TurnId.make(`other-${n}`))
    const count = (turnIds: ReadonlyArray<TurnId>) => {
      for (const turnId of turnIds) {
        s.state = runActor.evolve(s.state, { _tag: "TurnCounted", turnId, role: "author", ...noUsage })
      }
    }
    count(others(1_000))
    s.isStuck().tell(late)
    count(others(199))
    s.tell(late)
    assert.deepStrictEqual([s.run.usage.author.turns, s.run.counted.length], [1_200, 200])
  })

  it("counts for its own phase what continuing its session has saved, also in the next phase", () => {
    const s = executing().needsHuman().answer("continue-session")
    const { turnId } = s.pending("Turn")
    const reused = { _tag: "SessionReused", runId, phase: s.phase.id, role: "author", reason: "continue" } as const
    s.tell({ ...reused, sessionId: s.author, turnId, runtimeSessionId: "ses_1" })
    const late = s.turnReport({ result: "complete", commit: "abc0001" })
    s.isStuck().answer("override").treeClean().tell(late)
    assert.deepStrictEqual(
      s.run.savings.map(({ continuedTurns, phase }) => [phase, continuedTurns]),
      [["1", 1]]
    )
  })

  it("is not taken for the result of the turn that was asked for in its place", () => {
    const s = executing()
    const late = s.turnReport({ result: "complete", commit: "abc0001" })
    s.isStuck().answer("fix").tell(late)
    assert.deepStrictEqual([s.lines, s.run.pending._tag], [[], "Turn"])
  })

  it("answers the same command of the workspace that was asked again, once", () => {
    const s = story().executing(withGates).worked("abc0001").isStuck().answer("fix").gates(true)
    const { run } = s
    assert.deepStrictEqual([run.step, s.gates(true).run], ["REVIEW", run])
  })
})

describe("the view of a run", () => {
  it("shows what a running run waits for", () => {
    const s = executing()
    const waitsFor = () => runView(s.run)?.waitsFor
    assert.deepStrictEqual(waitsFor(), { _tag: "Turn", turnId: s.pending("Turn").turnId, sessionId: s.author })
    s.completes("abc0001")
    assert.deepStrictEqual(waitsFor(), { _tag: "Workspace", command: "VerifyCommit" })
    s.commitVerified()
    assert.deepStrictEqual(waitsFor(), { _tag: "Review", phase: s.phase.id, cycle: 1 })
    s.reviewFails()
    assert.isUndefined(waitsFor())
  })

  it.each([
    ["is paused", { _tag: "PauseRun", runId, now: true }],
    ["was aborted", { _tag: "AbortRun", runId, reason: "enough" }]
  ] as const)("shows nothing that a run waits for that %s", (_, command) => {
    assert.notProperty(runView(executing().tell(command).run), "waitsFor")
  })
})
