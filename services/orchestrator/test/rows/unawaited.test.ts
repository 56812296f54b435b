/** Inputs that resemble what the run waits for, but are something else. */
import { assert, describe, it } from "@effect/vitest"
import { escalationIdOf, Host, noUsage, PhaseId, turnIdOf } from "@reprise/protocol"
import { runView } from "../../src/machine/view.ts"
import type { RunInput } from "../../src/run/inputs.ts"
import { at, decision } from "../support/checkpoints.ts"
import { row } from "../support/row.ts"
import { failedGate, head, onePhase, runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const pause = { _tag: "PauseRun", runId, now: false } as const
const pauseNow = { _tag: "PauseRun", runId, now: true } as const
const resume = { _tag: "ResumeRun", runId } as const
const refused = { _tag: "CommandRefused", runId, code: "busy", reason: "no" } as const

const asked = {
  _tag: "AgentPrompting",
  runId,
  promptId: "p1",
  kind: "permission",
  text: "May I?",
  options: []
} as const
const verdict = { commit: "abc1234", cycle: 1, verdict: { readiness: "ready", items: [] } } as const

const reviewing = () => story().executing().worked("abc1234")
const working = () => story().executing().needsHuman().agentWorks()
/** The reviewer was interrupted, and the run resumed before it had stopped. */
const interrupted = () => reviewing().tell(pauseNow).tell(resume)

describe("a run does not move", () => {
  it.each<readonly [string, () => Story, (s: Story) => RunInput]>([
    [
      "when a commit of another phase is verified",
      () => story().executing().completes("abc1234"),
      () => ({ _tag: "CommitVerified", runId, phase: PhaseId.make("2"), commit: "abc1234" })
    ],
    [
      "when there is a verdict on another phase",
      reviewing,
      () => ({ _tag: "VerdictReached", runId, phase: PhaseId.make("2"), ...verdict })
    ],
    [
      "when there is a verdict and no phase has begun",
      () => story().start(),
      () => ({ _tag: "VerdictReached", runId, phase: PhaseId.make("1"), ...verdict })
    ],
    [
      "when there is a verdict, and no review is under way",
      () => story().executing(),
      () => ({ _tag: "VerdictReached", runId, phase: PhaseId.make("1"), ...verdict })
    ],
    [
      "when the workspace has failed while an author works",
      () => story().executing(),
      () => ({ _tag: "WorkspaceFailed", runId, operation: "VerifyCommit", reason: "no disk" })
    ],
    [
      "when a turn ends while no author works",
      () => story().executing().needsHuman(),
      (s) => ({ ...story().executing().turnFailure("runtime"), sessionId: s.author })
    ],
    [
      "when the agent of another session is idle than the one that works by itself",
      working,
      (s) => ({ _tag: "AgentIdle", runId, sessionId: s.reviewer })
    ],
    [
      "when an agent is idle that nobody waits for",
      () => story().executing(),
      (s) => ({ _tag: "AgentIdle", runId, sessionId: s.author })
    ],
    [
      "when another agent asks than the author at work",
      () => story().executing(),
      (s) => ({ ...asked, sessionId: s.reviewer })
    ],
    [
      "when another agent asks than the one that works by itself",
      working,
      (s) => ({ ...asked, sessionId: s.reviewer })
    ],
    ["when the author asks while its work is reviewed", reviewing, (s) => ({ ...asked, sessionId: s.author })],
    ["when a reviewer asks that was interrupted", interrupted, (s) => ({ ...asked, sessionId: s.reviewer })],
    [
      "when an agent asks while the workspace is at work",
      () => story().executing().completes("abc1234"),
      (s) => ({ ...asked, sessionId: s.author })
    ],
    [
      "when the gate refuses another question than the open one",
      () => story().executing().needsHuman(),
      () => ({ ...refused, command: "RaiseEscalation", escalationId: escalationIdOf(runId, 9) })
    ],
    [
      "when the gate refuses a question and none is open",
      () => story().executing(),
      () => ({ ...refused, command: "RaiseEscalation" })
    ],
    [
      "when the workspace refuses something else than the run waits for",
      () => story().executing().completes("abc1234"),
      () => ({ ...refused, command: "ReleaseWorkspace" })
    ],
    [
      "when a reply to its author is refused during the turn",
      () => story().executing(),
      (s) => ({ ...refused, command: "ReplyToPrompt", sessionId: s.author })
    ],
    [
      "when a turn in another session is refused",
      () => story().executing(),
      (s) => ({ ...refused, command: "StartTurn", sessionId: s.reviewer })
    ],
    ["when the interruption of its review is refused", reviewing, () => ({ ...refused, command: "InterruptReview" })],
    ["when a review is refused and none is under way", working, () => ({ ...refused, command: "RequestReview" })]
  ])("%s", (_, come, input) => {
    const s = come()
    const { pending, status, step } = s.run
    s.tell(input(s))
    assert.deepStrictEqual(s.lines, [])
    assert.deepStrictEqual([s.run.pending, s.run.status, s.run.step], [pending, status, step])
  })

  it("when another commit than the reported one is verified", () => {
    const s = story().executing().completes("abc1234")
    assert.deepStrictEqual(row(s, { _tag: "CommitVerified", runId, phase: "1", commit: "def5678" }).lines, [])
  })

  it("when the workspace failed in another phase", () => {
    const s = story().executing().completes("abc1234")
    const failure = { _tag: "WorkspaceFailed", runId, operation: "VerifyCommit", reason: "no disk" } as const
    assert.deepStrictEqual(row(s, { ...failure, phase: "2" }).lines, [])
    assert.deepStrictEqual(row(s, { ...failure, phase: "1" }).lines[0], "gate RaiseEscalation")
  })

  it("when another turn than the one under way is refused", () => {
    const s = story().executing()
    s.tell({ ...refused, command: "StartTurn", turnId: turnIdOf(runId, 9) })
    assert.strictEqual(s.run.pending._tag, "Turn")
  })

  it("when an agent whose turn was interrupted asks", () => {
    const s = story().executing().tell(pauseNow).tell(resume).agentPrompts("p1")
    assert.deepStrictEqual(s.lines, [])
  })

  it("when gates pass that are not those of its checkpoint", () => {
    const task = "P1.2"
    const s = at(
      { ...decision, task, type: "human-verify" },
      { auto: true, gates: { verify: ["npm run look"] } },
      onePhase
    )
    const { attempt } = s.command("RunQualityGates")
    const passed = { _tag: "QualityPassed", runId, phase: "1", attempt, results: [failedGate] } as const
    assert.deepStrictEqual(row(s, passed).lines, [])
    assert.include(row(s, { ...passed, checkpoint: task }).lines, "CheckpointResolved")
  })
})

describe("a run", () => {
  it("is not complete when the summary of its last phase is written twice", () => {
    const s = story().executing({}, onePhase).phaseApproved("abc1234")
    const written = s.pending("Workspace").command
    assert.deepInclude(written, { _tag: "WriteSummary" })
    assert.notProperty(written, "phase")
    const again = { _tag: "SummaryWritten", runId, phase: PhaseId.make("1"), path: "SUMMARY.md" } as const
    assert.deepStrictEqual(s.tell(again).lines, [])
    assert.strictEqual(s.run.status, "running")
    assert.strictEqual(s.summaryWritten().run.status, "completed")
  })

  it("counts what a human used in its author's session, and waits on", () => {
    const s = story().executing().needsHuman()
    const { cost } = s.run.usage.author
    const used = { ...noUsage, cost: 0.25, calls: 1 }
    s.tell({ _tag: "UsageCounted", runId, sessionId: s.author, role: "author", ...used })
    assert.deepStrictEqual([s.lines, s.run.usage.author.cost], [[], cost + 0.25])
  })
})

describe("a run moves", () => {
  it("when its command to continue a session is refused", () => {
    const s = story().executing().needsHuman().answer("continue-session")
    const { turnId } = s.pending("Turn")
    assert.strictEqual(s.tell({ ...refused, command: "ContinueSession", turnId }).question.ask.origin, "runtime")
  })

  it("with the report of a turn when it was resumed before the turn was over", () => {
    const s = story().executing().tell(pause).tell(resume).completes("abc1234")
    assert.deepStrictEqual(s.lines, ["workspace VerifyCommit"])
  })

  it("with what came in a second pause, not with what came in the first", () => {
    const s = story().executing().tell(pause).completes("abc1").tell(resume)
    s.tell(pause).commitVerified().tell(resume)
    assert.deepStrictEqual(s.lines, ["RunResumed", "StepStarted REVIEW (work-verified)", "reviewer RequestReview"])
  })

  it("whoever brought it about that the workspace reports", () => {
    const prepared = { _tag: "WorkspacePrepared", runId, host: Host.make("h"), directory: "/repo", head } as const
    const causation = "escalation.r1-test-e1.1.0"
    assert.strictEqual(story().start().tell(prepared, { causation }).run.step, "EXECUTE")
  })

  it("to a human at a checkpoint that auto mode cannot resolve", () => {
    const s = at({ ...decision, type: "human-action" }, { auto: true })
    assert.strictEqual(s.question.ask.origin, "checkpoint")
  })
})

describe("the view of a run", () => {
  it("keeps the newest two hundred notices", () => {
    const s = story().executing()
    for (let n = 1; n <= 201; n++)
      s.tell({ ...refused, command: "StartTurn", turnId: turnIdOf(runId, 9), reason: `${n}` })
    const { notices } = runView(s.run) ?? assert.fail("there is no view")
    assert.strictEqual(notices.length, 200)
    assert.deepStrictEqual([notices.at(0), notices.at(-1)], ["StartTurn was refused: 2", "StartTurn was refused: 201"])
  })

  it("shows the phase of an aborted run as not done, and the turn that continues while its agent's question is open", () => {
    const aborted = story().executing().tell({ _tag: "AbortRun", runId, reason: "enough" })
    assert.strictEqual(runView(aborted.run)?.phases[0]?.state, "pending")
    const asking = story().executing().agentPrompts("p1")
    assert.strictEqual(runView(asking.run)?.turnId, asking.pending("Turn").turnId)
  })

  it("numbers the gate runs, including those that the workspace had to begin again", () => {
    const s = story().executing(withGates).worked("abc1")
    s.tell({ _tag: "WorkspaceFailed", runId, phase: "1", operation: "RunQualityGates", reason: "no disk" })
    s.answer("fix").gates(false).worked()
    assert.strictEqual(s.command("RunQualityGates").attempt, 3)
    assert.strictEqual(runView(s.run)?.attempt, 3)
  })
})
