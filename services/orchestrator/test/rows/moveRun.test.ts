import { assert, describe, it } from "@effect/vitest"
import { anyHost, Host } from "@reprise/protocol"
import { Result } from "effect"
import { head, item, type OptionsInput, runId, startRun } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const remote = { url: "https://git.example.org/app.git", ref: "main" }
const [gone, other] = [Host.make("host1"), Host.make("host2")]
const move = { _tag: "MoveRun", runId, from: gone } as const

const executing = (options: OptionsInput = {}) =>
  story()
    .tell({ ...startRun(options), workspace: "", remote })
    .prepared()
const preparedElsewhere = (s: Story, at = head) =>
  s.tell({ _tag: "WorkspacePrepared", runId, host: other, directory: "/other", head: at, branch: "reprise/plan" })
const refusal = (s: Story) => {
  const decision = s.try(move)
  return Result.isFailure(decision) ? decision.failure.code : "accepted"
}

describe("any, with a remote, MoveRun", () => {
  it("prepares the run on any other host, after its agents were stopped", () => {
    const s = executing().tell(move)
    assert.deepStrictEqual(s.lines, [
      "RunMoved",
      "session-manager AbortSession",
      "StepStarted PREPARE (host-gone)",
      "workspace PrepareWorkspace"
    ])
    assert.deepInclude(s.command("PrepareWorkspace"), { remote, host: anyHost, leaving: gone })
    assert.deepInclude(s.run, { status: "running", step: "PREPARE" })
    assert.notProperty(s.run, "host")
    assert.match(s.run.notices.at(-1) ?? "", /Host host1 is gone.*Phase 1 begins again/)
  })

  it("begins the phase again there from what was pushed, in the session of its author, which is told the saved conversation", () => {
    const first = executing()
    const { author } = first
    first.tell(move)
    assert.deepInclude(
      first.journal.find(({ _tag }) => _tag === "RunMoved"),
      { from: gone, author }
    )
    const s = preparedElsewhere(first, "abc9999")
    assert.deepStrictEqual(s.lines, [
      "PhaseStarted 1",
      "StepStarted EXECUTE (phase-started)",
      "session-manager StartTurn"
    ])
    assert.deepInclude(s.command("StartTurn"), {
      ...{ directory: "/other", host: other, reason: "host-gone" },
      session: { _tag: "Existing", sessionId: author },
      onMissing: "fresh"
    })
    assert.include(
      s.command("StartTurn").freshPrompt,
      "Phase 1 begins again on another host, because host host1 is gone."
    )
    assert.include(s.command("StartTurn").freshPrompt, "is at abc9999")
    assert.strictEqual(s.phase.base, "abc9999")
    const decided = s.journal.findLast((event) => event._tag === "StepStarted")
    assert.deepInclude(decided?._tag === "StepStarted" ? decided.session : {}, {
      choice: "continue",
      why: "host host1 is gone: the session goes on with what was saved of it"
    })
  })

  it("goes on in that session afterwards, whatever is told late of its end on the lost host", () => {
    const s = preparedElsewhere(executing().tell(move))
    const { author } = s
    s.agent("SessionAborted")
    assert.deepStrictEqual([s.author, s.lines], [author, []])
    s.tell({ ...s.turnReport({ result: "complete", commit: "abc1234" }) }).commitVerified()
    s.verdict("not_ready", item("R1", "auto_fix"))
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "Existing", sessionId: author } })
    assert.notInclude(s.prompt, "begins again on another host")
  })

  it("tells that author once what a human said before and after", () => {
    const s = preparedElsewhere(executing().needsHuman().answer("continue-session", "Use blue.").tell(move))
    assert.include(s.prompt, "Use blue.")
    s.tell({ _tag: "SessionReplaced", runId, sessionId: s.author, old: "a", new: "b", reason: "host host1 is gone" })
    s.needsHuman().answer("continue-session", "And red.")
    assert.strictEqual(s.command("ContinueSession").guidance, "And red.")
  })

  it("does not count the age that the author's session had on the lost host", () => {
    const s = preparedElsewhere(executing({ continuation: { maxSessionAgeMs: 4_500 } }).tell(move))
    s.tell({ ...s.turnReport({ result: "complete", commit: "abc1234" }) }).commitVerified()
    s.verdict("not_ready", item("R1", "auto_fix"))
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "Existing", sessionId: s.author } })
  })

  it.each([
    [
      "its first turn there failed before it was told anything",
      (s: Story) => s.tell({ ...s.turnFailure("gone"), promptGiven: false }).answer("fix")
    ],
    [
      "the run was paused before that",
      (s: Story) =>
        s.tell({ _tag: "PauseRun", runId, now: true }).turnInterrupted(false).tell({ _tag: "ResumeRun", runId })
    ]
  ] as const)("goes on in that session although %s", (_, interrupted) => {
    const s = preparedElsewhere(executing().tell(move))
    const { author } = s
    interrupted(s)
    assert.strictEqual(s.author, author)
    assert.deepInclude(s.command("StartTurn"), { movedFrom: gone, session: { _tag: "Existing", sessionId: author } })
    assert.include(s.command("StartTurn").freshPrompt, "begins again on another host")
  })

  it("begins again with a fresh author where the author's session had ended before", () => {
    const first = executing().agent("SessionFailed")
    const lost = first.author
    const s = preparedElsewhere(first.tell(move))
    assert.notStrictEqual(s.author, lost)
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "New" } })
  })

  it("keeps the author for the phase when the next host is gone, too, before the phase begins again", () => {
    const first = executing()
    const { author } = first
    const s = preparedElsewhere(first.tell(move)).tell({ ...move, from: other })
    s.tell({ _tag: "WorkspacePrepared", runId, host: gone, directory: "/repo", head, branch: "reprise/plan" })
    assert.deepInclude(s.command("StartTurn"), { session: { _tag: "Existing", sessionId: author } })
  })

  it("keeps finished phases and what a human said in this one, and withdraws the open question", () => {
    const s = executing().needsHuman().answer("continue-session", "Call it Esperanto").needsHuman().tell(move)
    assert.strictEqual(s.lines[0], "gate WithdrawEscalation")
    preparedElsewhere(s)
    assert.include(s.prompt, "Call it Esperanto")
    assert.strictEqual(s.run.status, "running")
  })

  it("moves a review that is under way", () => {
    const s = executing().worked("abc1234").tell(move)
    assert.include(s.lines, "reviewer MoveReview")
    preparedElsewhere(s)
    assert.strictEqual(s.phase.reviewCycles, 0)
  })

  it("stays paused, and moves elsewhere once it is resumed", () => {
    const s = executing().tell({ _tag: "PauseRun", runId, now: true }).tell(move)
    assert.strictEqual(s.run.status, "paused")
    assert.deepStrictEqual(preparedElsewhere(s).lines, [])
    s.tell({ _tag: "ResumeRun", runId })
    assert.deepStrictEqual([s.run.status, s.run.host, s.phase.id], ["running", other, "1"])
  })

  it("begins a phase again that a human approved as it is, unless it was pushed", () => {
    const overridden = executing().needsHuman().answer("override")
    preparedElsewhere(overridden.tell(move))
    assert.strictEqual(overridden.phase.id, "1")
    const pushed = executing().needsHuman().answer("override").treeClean()
    preparedElsewhere(pushed.tell(move))
    assert.strictEqual(pushed.phase.id, "2")
  })

  it("keeps an answer that was given during a pause", () => {
    const s = executing().needsHuman().tell({ _tag: "PauseRun", runId, now: false })
    s.answer("continue-session", "Call it Volapük").tell(move)
    preparedElsewhere(s).tell({ _tag: "ResumeRun", runId })
    assert.include(s.prompt, "Call it Volapük")
  })

  it("is not failed by a late failure of what the lost host was asked", () => {
    const s = executing().tell(move)
    s.tell({ _tag: "WorkspaceFailed", runId, phase: "1", operation: "RunQualityGates", reason: "no disk" } as never)
    assert.deepInclude(s.run, { status: "running", step: "PREPARE" })
  })

  it("is refused where the code is on that host alone, where the run is elsewhere, and the second time", () => {
    assert.strictEqual(refusal(story().executing()), "no-remote")
    assert.strictEqual(refusal(story().tell({ ...startRun(), workspace: "", remote })), "not-on-host")
    const s = executing().tell(move)
    assert.strictEqual(refusal(s), "not-on-host")
    assert.strictEqual(refusal(preparedElsewhere(s)), "not-on-host")
    assert.strictEqual(refusal(executing().tell({ _tag: "AbortRun", runId, reason: "enough" })), "ended")
  })

  it("is not moved by what the lost host reports late", () => {
    const s = executing()
    const late = s.turnFailure("aborted")
    s.tell(move).tell(late)
    assert.deepInclude(s.run, { status: "running", step: "PREPARE" })
    assert.strictEqual(s.run.pending._tag, "Workspace")
  })
})
