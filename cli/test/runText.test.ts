import { assert, describe, it } from "@effect/vitest"
import { defaultRunOptions } from "@reprise/protocol"
import { doneBefore, limitsLine, nextStep, runSummary, runsTable } from "../src/views/runText.ts"
import { aRun, cellsOf, noTokens, plainLines } from "./support/views.ts"

const now = Date.parse("2026-01-01T10:10:00.000Z")

describe("the table of runs", () => {
  it("has a row with the state of each run", () => {
    const runs = [
      aRun({ status: "waiting", phase: "2", step: "EXECUTE", reason: "Which language?\nSay it." }),
      aRun({ runId: "r2-def", status: "completed", planPath: "docs/other.md" })
    ]
    assert.deepStrictEqual(cellsOf(runsTable(runs, now)), [
      ["run", "plan", "status", "phase", "step", "since", "reason"],
      ["r1-abc", "PLAN.md", "waiting", "2", "author's work", "10 min ago", "Which language? …"],
      ["r2-def", "docs/other.md", "completed", "", "", "10 min ago", ""]
    ])
  })

  it("cuts a long reason and marks that it goes on", () => {
    const [, row] = cellsOf(runsTable([aRun({ reason: "x".repeat(200) })], now))
    assert.strictEqual(row?.[6], `${"x".repeat(59)}…`)
  })
})

describe("a plan that is run again", () => {
  it.each([
    [
      ["completed", "failed"],
      "Run r1-abc has completed this plan already; this is a new run from the beginning. Ctrl-C stops it."
    ],
    [["failed", "completed"], undefined],
    [["aborted"], undefined],
    [[], undefined]
  ])("after runs that are %j, the newest first, is announced with %j", (states, notice) => {
    assert.strictEqual(doneBefore(states.map((status) => aRun({ status }))), notice)
  })
})

describe("the next step of a run", () => {
  it.each([
    [{ status: "running", hosted: true }, "next: 'reprise watch r1-abc' shows what happens"],
    [{ status: "running", hosted: false }, "next: 'reprise up' continues it"],
    [
      { status: "waiting", escalationId: "r1-abc-e1" },
      "next: 'reprise gate' asks you; for scripts, 'reprise gate show r1-abc-e1' and 'reprise gate answer r1-abc-e1 CHOICE'"
    ],
    [{ status: "waiting" }, "next: 'reprise gate' asks you what is open"],
    [{ status: "paused" }, "next: 'reprise resume r1-abc' continues it"],
    [{ status: "completed" }, "next: 'reprise summary r1-abc' shows the tasks with their commits"],
    [
      { status: "completed", workspace: "/r", directory: "/r/.reprise/worktrees/r1-abc", branch: "reprise/plan" },
      "next: 'git merge reprise/plan' merges its work; 'reprise summary r1-abc' shows the tasks with their commits"
    ],
    [
      { status: "completed", workspace: "/r", directory: "/r", branch: "main" },
      "next: 'reprise summary r1-abc' shows the tasks with their commits"
    ],
    [{ status: "failed" }, "next: 'reprise logs r1-abc' shows what happened; 'reprise run PLAN.md' starts a new run"],
    [{ status: "aborted" }, "next: 'reprise logs r1-abc' shows what happened; 'reprise run PLAN.md' starts a new run"]
  ])("of %j names a command that works as it is printed", (state, line) => {
    assert.strictEqual(nextStep(aRun(state)), line)
  })
})

describe("the summary of a run", () => {
  const run = aRun({
    status: "completed",
    phases: [
      { id: "1", title: "Greet", state: "completed", commit: "0123456789abcdef", reviewCycles: 2, qualityAttempts: 3 },
      { id: "2", title: "Languages", state: "overridden", reviewCycles: 0, qualityAttempts: 0 }
    ],
    sessionsCreated: 4,
    sessionsReused: 1,
    usage: {
      author: { tokens: { ...noTokens, input: 100, output: 20, cacheRead: 50 }, cost: 0.25, calls: 3, turns: 3 },
      reviewer: { tokens: { ...noTokens, input: 10, output: 2 }, cost: 0, calls: 2, turns: 2 }
    },
    notices: ["The review limit was met."]
  })
  const text = runSummary(run, [["workspace", "/repository"]])

  it("lists phases with commits, roles with tokens and cost, and locations", () => {
    assert.deepStrictEqual(cellsOf(text), [
      ["phase", "title", "state", "commit", "gate runs", "reviews"],
      ["1", "Greet", "completed", "0123456789", "3", "2"],
      ["2", "Languages", "overridden", "", "0", "0"],
      ["role", "turns", "tokens", "cost"],
      ["author", "3", "100 in, 20 out, 50 cached", "$0.2500"],
      ["reviewer", "2", "10 in, 2 out", "$0.0000"],
      ["what", "where"],
      ["workspace", "/repository"]
    ])
  })

  it("says how often sessions were continued, and lists the notices", () => {
    const lines = plainLines(text)
    assert.include(lines, "4 sessions, continued 1 time")
    assert.strictEqual(lines.at(-1), "note: The review limit was met.")
  })

  it("lists who said what for whom, and which sessions were given it", () => {
    const ledger = [
      { from: "human", by: "anna", for: "both", phase: "1", text: "Use\nblue.", givenTo: ["r1-abc-s1", "r1-abc-s2"] },
      { from: "author", for: "reviewer", phase: "1", text: "R1 is meant so.", givenTo: [] },
      { from: "human", by: "anna", for: "both", about: "At the gate", text: "Hurry.", givenTo: [] },
      { from: "human", by: "anna", for: "both", phase: "1", about: "At the checkpoint", text: "", givenTo: [] }
    ]
    assert.deepStrictEqual(
      plainLines(runSummary(aRun({ ledger }), [])).filter((line) => line.startsWith("said by")),
      [
        "said by anna for the author and reviewer of phase 1 (given to r1-abc-s1, r1-abc-s2): Use blue.",
        "said by the author for the reviewer of phase 1 (not given to a session yet): R1 is meant so.",
        "said by anna for the author and reviewer of the next phase (not given to a session yet): At the gate: Hurry.",
        "said by anna for the author and reviewer of phase 1 (not given to a session yet): At the checkpoint"
      ]
    )
  })

  it("begins with the run, its status and the reason", () => {
    const failed = runSummary(aRun({ status: "failed", reason: "The plan is gone." }), [])
    assert.strictEqual(plainLines(failed)[0], "r1-abc failed: The plan is gone.")
  })
})

describe("a run that no process hosts", () => {
  it("is not simply running, and says what goes on with it", () => {
    const run = aRun({ hosted: false })
    assert.strictEqual(cellsOf(runsTable([run], now))[1]?.[2], "running, not hosted")
    assert.deepStrictEqual(plainLines(runSummary(run, [])).slice(0, 2), [
      "r1-abc running, not hosted",
      "no process hosts it: 'reprise up' continues it"
    ])
  })

  it.each([
    [{ status: "waiting" }, "no process hosts it: 'reprise up' continues it once it is answered"],
    [{ host: "build-1" }, "no process hosts it: 'reprise up' on host build-1 continues it"]
  ])("says what is to happen first, and where: %o", (given, line) => {
    assert.strictEqual(plainLines(runSummary(aRun({ hosted: false, ...given }), []))[1], line)
  })

  it.each([{ hosted: true }, {}, { hosted: false, status: "paused" }])(
    "is told from one whose state says enough: %o",
    (given) => {
      assert.notInclude(runSummary(aRun(given), []), "host")
    }
  )
})

describe("what a running run waits for", () => {
  it.each([
    [{ _tag: "Turn", turnId: "r1-abc-t3", sessionId: "r1-abc-s1" }, "waits for turn r1-abc-t3 in session r1-abc-s1"],
    [{ _tag: "Review", phase: "1", cycle: 2 }, "waits for review 2 of phase 1"],
    [{ _tag: "Workspace", command: "VerifyCommit" }, "waits for VerifyCommit in the workspace"],
    [{ _tag: "Agent", sessionId: "r1-abc-s1" }, "waits until the agent at work in session r1-abc-s1 is idle"]
  ])("is said below its status: %o", (waitsFor, line) => {
    assert.strictEqual(plainLines(runSummary(aRun({ waitsFor }), []))[1], line)
  })
})

describe("the limits of a run", () => {
  it("are shown with their usage, budgets only if they are set", () => {
    const { limits } = defaultRunOptions
    const phases = [{ id: "1", title: "Greet", state: "running", reviewCycles: 2, qualityAttempts: 3 }]
    const run = aRun({ phase: "1", phases, steps: 12, limits })
    assert.strictEqual(
      limitsLine(run),
      "limits: 12 of 250 steps, phase 1: 2 of 5 reviews, 3 quality gate runs (at most 3 retries in a row), 0 of 20 continuations, turns time out after 15 min without activity"
    )
    const usage = { tokens: { ...noTokens, input: 100, output: 20, cacheRead: 50 }, cost: 0.25, calls: 3, turns: 3 }
    const spent = { limits: { ...limits, tokenBudget: 1000, costBudget: 2, turnWallMs: 90_000 } }
    assert.include(
      limitsLine(aRun({ ...spent, usage: { author: usage, reviewer: usage } })),
      "and after 1.5 min in total, 240 of 1000 tokens, $0.50 of $2.00"
    )
  })
})
