import { assert, describe, it } from "@effect/vitest"
import { type CheckpointReport, PhaseId } from "@reprise/protocol"
import { Result } from "effect"
import { unansweredCheckpoints } from "../src/checkpoint/planned.ts"
import type { PlannedPhase } from "../src/run/journal.ts"
import type { PhaseCheckpoint } from "../src/run/state.ts"
import { at, decision, done, planWith } from "./support/checkpoints.ts"
import { item, onePhase, runId } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

type Type = CheckpointReport["type"]

const invoice = `# Invoices

## Phase 1: Pay

- [ ] T1 Write the letter (checkpoint: human-verify)
- [ ] T2 Pay the invoice (checkpoint: human-action)
- [ ] T3 Send the letter
`
const hash = (n: number) => n.toString(16).padEnd(40, "c")
const task = (id: string, n: number) => ({ id, commit: hash(n), files: [] })
const all = { completedTasks: [task("T1", 1), task("T2", 2), task("T3", 3)] }

const reached = (task: string, type: Type, resolution?: string): PhaseCheckpoint => ({
  task,
  type,
  completedBefore: [],
  report: { task, type, description: "Look" },
  ...(resolution === undefined ? {} : { resolution })
})

describe("the checkpoints of a phase that nobody has answered", () => {
  const planned = (checkpoints: Readonly<Record<string, Type>>): PlannedPhase => ({
    id: PhaseId.make("1"),
    title: "x",
    done: false,
    tasks: ["T1", "T2", "T3"].map((id) => ({
      id,
      name: `Do ${id}`,
      ...(checkpoints[id] === undefined ? {} : { checkpoint: checkpoints[id] })
    }))
  })

  it.each<[string, Readonly<Record<string, Type>>, ReadonlyArray<PhaseCheckpoint>, ReadonlyArray<string>]>([
    ["none in a plan without checkpoints", {}, [], []],
    ["all of the plan, in its order", { T3: "decision", T1: "human-verify" }, [], ["T1", "T3"]],
    [
      "not those with an answer",
      { T1: "human-action", T2: "decision" },
      [reached("T1", "human-action", "done")],
      ["T2"]
    ],
    ["not an action that a human cannot do", { T1: "human-action" }, [reached("T1", "human-action", "cannot")], []],
    ["not a verification that passed", { T1: "human-verify" }, [reached("T1", "human-verify", "passed: fine")], []],
    ["a verification that failed", { T1: "human-verify" }, [reached("T1", "human-verify", "failed: no")], ["T1"]],
    [
      "a verification that passed, and failed later",
      { T1: "human-verify" },
      [reached("T1", "human-verify", "passed"), reached("T1", "human-verify", "failed")],
      ["T1"]
    ],
    [
      "a verification of work that was lost",
      { T1: "human-verify" },
      [reached("T1", "human-verify", "lost with its work: passed")],
      ["T1"]
    ],
    ["one that was reached and left", { T1: "human-action" }, [reached("T1", "human-action")], ["T1"]],
    ["one that was answered as another type", { T1: "human-action" }, [reached("T1", "decision", "a")], ["T1"]],
    [
      "one besides the plan that was left, first",
      { T1: "human-action" },
      [reached("X9", "human-verify")],
      ["X9", "T1"]
    ],
    ["none besides the plan with any answer", {}, [reached("X9", "human-verify", "failed")], []]
  ])("are %s", (_title, checkpoints, before, expected) => {
    assert.deepStrictEqual(
      unansweredCheckpoints(planned(checkpoints), before).map((one) => one.task),
      expected
    )
  })
})

describe("an author that reports the phase as complete past a checkpoint of the plan", () => {
  const past = (): Story => story().executing({}, invoice).completes(hash(3), all)

  it("is told once, in its session, which checkpoints nobody has answered", () => {
    const s = past()
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    assert.strictEqual(s.command("StartTurn").session._tag, "Existing")
    assert.include(s.prompt, "- T1: Write the letter (checkpoint: human-verify)")
    assert.include(s.prompt, "- T2: Pay the invoice (checkpoint: human-action)")
    assert.deepStrictEqual(s.phase.completedTasks, [], "nothing counts before it is verified")
  })

  it("has the checkpoint raised all the same when it does so again, on what is verified", () => {
    const s = past()
    s.tell(s.turnReport({ result: "complete", commit: hash(3), ...all }))
    const { base, commit, tasks } = s.command("VerifyClaims")
    assert.deepStrictEqual([base, commit, tasks], [s.phase.base, hash(3), all.completedTasks])
    s.claimsVerified().stateWritten()
    const { evidence, origin, reason } = s.question.ask
    assert.deepStrictEqual([origin, s.choices], ["checkpoint", ["pass", "fail"]])
    assert.include(reason, "Write the letter")
    assert.deepStrictEqual(evidence.checkpoint?.verifySteps, ["Write the letter"])
    assert.strictEqual(evidence.commit, hash(1))
  })

  it("is stopped at every checkpoint of the plan before the phase is approved", () => {
    const s = past().completes(hash(3), all).stateWritten().answer("pass").stateWritten().tasksVerified()
    assert.notInclude(s.prompt, "You have gone past")
    s.completes(hash(3))
    assert.include(s.prompt, "- T2: Pay the invoice (checkpoint: human-action)")
    assert.notInclude(s.prompt, "T1: Write the letter")
    s.completes(hash(3)).stateWritten()
    assert.deepStrictEqual(s.choices, ["done", "cannot"])
    assert.strictEqual(s.question.ask.evidence.checkpoint?.requiredAction, "Pay the invoice")
    s.answer("done", "By card").stateWritten().tasksVerified()
    assert.include(s.prompt, "User confirms action completed: By card")
    assert.deepStrictEqual(s.completes(hash(3)).lines, ["workspace VerifyCommit"])
    assert.include(s.commitVerified().verdict("ready").treeClean().lines, "PhaseCompleted 1 by review")
  })

  it("is told again as a fresh author that stops at the checkpoint, and is asked about nothing else", () => {
    const s = past().reports({
      result: "checkpoint",
      checkpoint: { task: "T1", type: "human-verify", description: "Read the letter" },
      commit: hash(3),
      ...all
    })
    assert.strictEqual(s.stateWritten().question.ask.reason, "Read the letter")
    assert.isTrue(s.journal.filter((event) => event._tag === "CheckpointOpened").length === 1)
  })

  it("is told when it stops at a later task, and asked about the earlier one first", () => {
    const checkpoint = { task: "T2", type: "human-action", description: "Pay it" } as const
    const stops = { result: "checkpoint", checkpoint, completedTasks: [task("T1", 1)] } as const
    const s = story().executing({}, invoice).reports(stops)
    assert.include(s.prompt, "- T1: Write the letter (checkpoint: human-verify)")
    assert.notInclude(s.prompt, "T2: Pay the invoice")
    assert.strictEqual(s.reports(stops).stateWritten().question.ask.evidence.checkpoint?.task, "T1")
    s.answer("pass").stateWritten().tasksVerified().reports({ result: "checkpoint", checkpoint })
    assert.strictEqual(s.stateWritten().question.ask.reason, "Pay it")
  })

  it("may ask for another architecture before any checkpoint", () => {
    const checkpoint = { task: "T2", type: "architectural-change", description: "By post" } as const
    const s = story().executing({}, invoice).reports({ result: "checkpoint", checkpoint }).stateWritten()
    assert.deepStrictEqual(s.choices, ["approve", "other", "abort"])
  })

  it("has a failed verification raised again until it passes", () => {
    const s = past().completes(hash(3), all).stateWritten().answer("fail", "no date").stateWritten().tasksVerified()
    s.completes(hash(4), { completedTasks: [task("T1", 4)] }).completes(hash(4), { completedTasks: [task("T1", 4)] })
    assert.strictEqual(s.stateWritten().question.ask.evidence.checkpoint?.task, "T1")
    assert.strictEqual(s.question.ask.evidence.commit, hash(4))
  })

  it("waits for a human in auto mode, too", () => {
    const s = story().executing({ auto: true }, invoice).completes(hash(3), all).completes(hash(3), all).stateWritten()
    assert.deepStrictEqual([s.run.status, s.choices], ["waiting", ["pass", "fail"]])
  })

  it("asks what the plan says where an author reports another type", () => {
    const s = at({ ...decision, description: "Paid?" }, {}, planWith("human-action"))
    assert.deepStrictEqual(s.choices, ["done", "cannot"])
    assert.include(s.run.notices.join(), "P1.2 is human-action in the plan, but its author reported decision.")
  })

  it("can be approved by a human who overrides", () => {
    const s = past().needsHuman().answer("override")
    assert.include(s.lines, "PhaseCompleted 1 by override")
  })
})

describe("what an author claims at a checkpoint", () => {
  const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look" }
  const plan = planWith("human-verify", onePhase)
  const claimed = (more = {}): Story => {
    const s = story().executing({}, plan)
    return s.tell(s.turnReport({ result: "checkpoint", checkpoint: verify, completedTasks: done, ...more }))
  }

  it("is verified before the record is written and anybody is asked", () => {
    const s = claimed({ commit: "bcd2345" })
    assert.deepStrictEqual(s.lines, ["workspace VerifyClaims"])
    const { base, commit, earlier, tasks } = s.command("VerifyClaims")
    assert.deepStrictEqual([base, commit, earlier], [s.phase.base, "bcd2345", []])
    assert.deepStrictEqual(tasks, [...done, { id: "P1.2", commit: "bcd2345", files: [] }])
    const files = ["as-committed.ts"]
    s.tell({
      _tag: "ClaimsVerified",
      runId,
      phase: s.phase.id,
      tasks: tasks.map((one) => ({ ...one, commit: one.commit.padEnd(40, "0"), files }))
    })
    assert.deepStrictEqual(s.command("WriteContinuationState").completedTasks, [
      { id: "P1.1", commit: "abc1234".padEnd(40, "0"), files },
      { id: "P1.2", commit: "bcd2345".padEnd(40, "0"), files }
    ])
  })

  it("keeps the files of a task that is listed and named by the commit too", () => {
    const listed = [...done, { id: "P1.2", commit: "bcd2345", files: ["b.ts"] }]
    assert.deepStrictEqual(claimed({ commit: "bcd2345", completedTasks: listed }).command("VerifyClaims").tasks, listed)
  })

  it("is compared with the beginning of the phase, whatever was verified since", () => {
    const s = story().executing({}, onePhase).worked("abc1234").verdict("not_ready", item("R1"))
    s.tell(s.turnReport({ result: "checkpoint", checkpoint: { ...verify, type: "decision", options: [] } }))
    assert.notStrictEqual(s.phase.base, s.phase.verified)
    assert.strictEqual(s.command("VerifyClaims").base, s.phase.base)
  })

  it("shows the human what has changed, as the workspace found it", () => {
    const s = claimed({ commit: "bcd2345" })
    const { phase, tasks } = s.command("VerifyClaims")
    s.tell({ _tag: "ClaimsVerified", runId, phase, tasks, diffStat: "2 files changed" }).stateWritten()
    assert.strictEqual(s.question.ask.evidence.diffStat, "2 files changed")
  })

  it("is compared with the tasks that were done before", () => {
    const s = claimed().claimsVerified().stateWritten().answer("pass").stateWritten().tasksVerified()
    const more = { id: "P1.3", commit: "cde3456", files: [] }
    s.tell(s.turnReport({ result: "checkpoint", checkpoint: { ...verify, task: "P1.3" }, completedTasks: [more] }))
    const { earlier, tasks } = s.command("VerifyClaims")
    assert.deepStrictEqual([earlier, tasks], [done, [more]])
  })

  it("may name the commit again by which its own task was done before", () => {
    const s = claimed({ commit: "bcd2345" }).claimsVerified().stateWritten().agentWorks().agent("AgentIdle")
    s.tell(s.turnReport({ result: "checkpoint", checkpoint: verify, commit: "bcd2345" }))
    assert.deepStrictEqual(s.command("VerifyClaims").tasks, [{ id: "P1.2", commit: "bcd2345", files: [] }])
  })

  it("does not make the checkpoint's task done by the commit of another task", () => {
    const s = claimed({ commit: "abc1234" })
    assert.deepStrictEqual(s.command("VerifyClaims").tasks, done)
    s.claimsVerified().stateWritten()
    assert.notStrictEqual(s.question.ask.evidence.commit, "abc1234")
  })

  it("is the author's to correct once, in its session, before anybody is asked", () => {
    const s = claimed().claimsRejected("Task 'P1.1': There is no commit 'deadbeef' in this repository.")
    assert.deepStrictEqual(s.lines, ["session-manager StartTurn"])
    assert.include(s.prompt, "does not hold (missing):\n\n> Task 'P1.1': There is no commit 'deadbeef'")
    assert.deepStrictEqual(s.phase.completedTasks, [], "a claim that does not hold counts for nothing")
    s.reports({
      result: "checkpoint",
      checkpoint: verify,
      completedTasks: [{ id: "P1.1", commit: "def5678", files: [] }]
    })
    assert.deepStrictEqual(s.phase.completedTasks, [{ id: "P1.1", commit: "def5678", files: [] }])
    assert.deepStrictEqual(s.stateWritten().choices, ["pass", "fail"])
  })

  it("that is rejected a second time leads to a human, who can continue the session", () => {
    const s = claimed().claimsRejected()
    s.tell(s.turnReport({ result: "checkpoint", checkpoint: verify, completedTasks: done })).claimsRejected()
    assert.strictEqual(s.question.ask.origin, "commit")
    assert.include(s.choices, "continue-session")
    assert.include(s.question.brief, "does not hold")
  })

  it("is verified again after the workspace could not do it", () => {
    const s = claimed()
    s.tell({ _tag: "WorkspaceFailed", runId, phase: s.phase.id, operation: "VerifyClaims", reason: "disk full" })
    assert.deepStrictEqual(s.answer("fix").lines.slice(-1), ["workspace VerifyClaims"])
    assert.deepStrictEqual(s.claimsVerified().stateWritten().choices, ["pass", "fail"])
  })
})

describe("an answer that crosses the withdrawal of its question", () => {
  it("is kept also when many questions were withdrawn before", () => {
    const s = story().executing()
    for (let n = 0; n < 25; n++) s.needsHuman().agentWorks().agent("AgentIdle")
    const answer = s.needsHuman().answerOf({ choice: "continue-session", guidance: "In Esperanto." })
    s.agentWorks().tell(answer)
    assert.include(s.run.notices.join(), "to a question that was withdrawn")
  })

  it("keeps what was said with it, and gives it to the agent when that is idle", () => {
    const s = story().executing().needsHuman()
    const answer = s.answerOf({ choice: "continue-session", guidance: "In Esperanto." })
    s.agentWorks().tell(answer)
    assert.include(
      s.run.notices.join(),
      "anna answered 'continue-session' through cli to a question that was withdrawn"
    )
    s.agent("AgentIdle")
    assert.include(s.prompt, "First act upon what is quoted below")
    assert.isTrue(s.prompt.endsWith("additional guidance:\nIn Esperanto."))
    assert.isTrue(Result.isFailure(s.try(answer)), "it is kept once")
  })

  it("is refused when nothing was said for an agent, or when it does not come from the gate", () => {
    const s = story().executing().needsHuman()
    const silent = s.answerOf({ choice: "continue-session" })
    const said = s.answerOf({ choice: "continue-session", guidance: "In Esperanto." })
    const reason = s.answerOf({ choice: "override", guidance: "It will do." })
    s.agentWorks()
    for (const refused of [s.try(silent), s.try(said, { id: "forged" }), s.try(reason)]) {
      assert.isTrue(Result.isFailure(refused))
    }
    assert.deepStrictEqual(s.run.ledger, [])
    s.agent("AgentIdle")
    assert.include(s.prompt, "Do no further work now")
  })
})

describe("chat in the author's session", () => {
  const verify: CheckpointReport = { task: "P1.2", type: "human-verify", description: "Look at the page" }
  const chatted = (checkpoint: CheckpointReport, cause: "human" | "agent" = "human"): Story =>
    at(checkpoint, {}, planWith(checkpoint.type, onePhase)).agentWorks(cause).agent("AgentIdle")
  const asked = (s: Story) => s.question.ask.evidence.checkpoint

  for (const type of ["human-verify", "human-action"] as const) {
    it(`never settles ${type}: the same question comes back once the agent is idle`, () => {
      const s = chatted({ ...verify, type })
      assert.isUndefined(s.phase.checkpoints[0]?.resolution)
      s.completes(hash(1)).stateWritten()
      assert.deepStrictEqual(asked(s), { ...verify, type })
      assert.strictEqual(s.phase.checkpoints.length, 1)
    })
  }

  it("never settles a verification besides the plan", () => {
    const s = at({ ...verify, task: "X9" }, {}, onePhase)
      .agentWorks()
      .agent("AgentIdle")
      .completes(hash(1))
    assert.strictEqual(asked(s.stateWritten())?.task, "X9")
  })

  it("brings the question back with what the author asks then", () => {
    const s = chatted(verify).needsHuman("Which browser?").claimsVerified().stateWritten()
    assert.strictEqual(s.question.ask.reason, "Look at the page\n\nNow the author says: Which browser?")
    s.agentWorks().agent("AgentIdle").needsHuman("Which screen?").claimsVerified().stateWritten()
    assert.strictEqual(s.question.ask.reason, "Look at the page\n\nNow the author says: Which screen?")
  })

  it("brings the question back before the next checkpoint is asked", () => {
    const s = chatted(verify).reports({
      result: "checkpoint",
      checkpoint: { task: "P1.3", type: "decision", description: "Which?" }
    })
    assert.strictEqual(asked(s.stateWritten())?.task, "P1.2")
  })

  it("leaves the question open when the agent is gone, and a fresh author cannot complete the phase past it", () => {
    const s = at(verify, {}, planWith("human-verify", onePhase)).agentWorks().agent("AgentGone").answer("fix")
    s.stateWritten().tasksVerified().completes(hash(1))
    assert.strictEqual(asked(s.stateWritten())?.task, "P1.2")
  })

  it("during a pause does not settle it either", () => {
    const s = at(verify, {}, planWith("human-verify", onePhase)).tell({ _tag: "PauseRun", runId, now: true })
    s.agentWorks().agent("AgentIdle").tell({ _tag: "ResumeRun", runId }).completes(hash(1))
    assert.strictEqual(asked(s.stateWritten())?.task, "P1.2")
  })

  it("settles a decision, but an agent that goes on by itself does not", () => {
    const settled = chatted(decision).completes(hash(1))
    assert.deepStrictEqual(settled.lines, ["workspace VerifyCommit"])
    assert.strictEqual(settled.phase.checkpoints[0]?.resolution, "resolved in the author's own session")
    assert.strictEqual(asked(chatted(decision, "agent").completes(hash(1)).stateWritten())?.task, "P1.2")
  })
})
