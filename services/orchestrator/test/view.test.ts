/** The view of a run: what 'reprise status' shows, in every field, wherever the run stands. */
import { assert, describe, it } from "@effect/vitest"
import { noUsage, type RunView } from "@reprise/protocol"
import { runView } from "../src/machine/view.ts"
import { noRun } from "../src/run/state.ts"
import { decodeOptions, head, onePhase, runId, startRun, withGates } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const viewOf = (s: Story): RunView => runView(s.state) ?? assert.fail("there is no view")
const phasesOf = (s: Story) => viewOf(s).phases

const remote = { url: "https://git.example.org/app.git", ref: "main" }
const detached = (s: Story) =>
  s.tell({ _tag: "WorkspacePrepared", runId, host: s.command("PrepareWorkspace").host, directory: "/repo", head })

describe("the view of a run", () => {
  it("tells what was asked for while the workspace is prepared", () => {
    const s = story().tell({ ...startRun(), workspace: "", remote })
    const unused = { ...noUsage, turns: 0 }
    const begun = { reviewCycles: 0, qualityAttempts: 0, state: "pending" }
    assert.deepStrictEqual<unknown>(viewOf(s), {
      runId,
      status: "running",
      planPath: "docs/plan.md",
      planTitle: "Plan of two",
      workspace: "",
      remote,
      step: "PREPARE",
      attempt: 1,
      phases: [
        { id: "1", title: "First things", ...begun },
        { id: "2", title: "Second things", ...begun }
      ],
      notices: [],
      ledger: [],
      refusals: [],
      waitsFor: { _tag: "Workspace", command: "PrepareWorkspace" },
      auto: false,
      steps: 0,
      limits: decodeOptions({}).limits,
      sessionsCreated: 0,
      sessionsReused: 0,
      usage: { author: unused, reviewer: unused },
      startedAt: s.run.startedAt,
      updatedAt: s.run.startedAt
    })
  })

  it("tells where the work is done, and whose turn it is, while an author works", () => {
    const s = story().executing({}, onePhase)
    const { branch, directory, host, turnId, waitsFor, ...view } = viewOf(s)
    assert.deepStrictEqual<unknown>(
      { branch, directory, host, turnId, waitsFor },
      {
        branch: "main",
        directory: "/repo",
        host: "host1",
        turnId: s.pending("Turn").turnId,
        waitsFor: { _tag: "Turn", turnId: s.pending("Turn").turnId, sessionId: s.author }
      }
    )
    assert.deepInclude(view, { phase: "1", step: "EXECUTE", attempt: 1, authorSessionId: s.author, steps: 1 })
    assert.deepStrictEqual<unknown>(view.phases, [
      { id: "1", title: "Only things", state: "running", reviewCycles: 0, qualityAttempts: 0, continuations: 0 }
    ])
  })

  it("tells of each phase how it ended, or how far it has come", () => {
    const s = story().executing(withGates).needsHuman().answer("override").treeClean()
    s.worked("abc1").gates(false).worked().gates(true)
    assert.deepStrictEqual<unknown>(phasesOf(s), [
      { id: "1", title: "First things", state: "overridden", reviewCycles: 0, qualityAttempts: 0 },
      {
        id: "2",
        title: "Second things",
        state: "running",
        commit: "abc1",
        reviewCycles: 1,
        qualityAttempts: 2,
        continuations: 0
      }
    ])
    s.verdict("ready").treeClean()
    assert.deepStrictEqual<unknown>(phasesOf(s)[1], {
      id: "2",
      title: "Second things",
      state: "completed",
      commit: "abc1",
      reviewCycles: 1,
      qualityAttempts: 2,
      continuations: 0
    })
  })

  it("names no author where a limit stops the phase before it has one", () => {
    const s = story()
      .executing({ limits: { maxStepsPerRun: 3 } })
      .phaseApproved("abc1")
    assert.deepInclude(viewOf(s), { status: "waiting", phase: "2" })
    assert.notProperty(viewOf(s), "authorSessionId")
  })

  it("calls a phase done before that the run did not have to do, and waiting while a human is asked", () => {
    const s = story().executing({ startPhase: "2" }).needsHuman()
    assert.deepStrictEqual(
      phasesOf(s).map(({ state }) => state),
      ["done-before", "waiting"]
    )
  })

  it.each([
    ["none where none was given", {}, undefined],
    ["the author's, which is the reviewer's too", { model: "one" }, { author: "one", reviewer: "one" }],
    ["the reviewer's alone", { reviewerModel: "two" }, { reviewer: "two" }],
    [
      "the author's alone, where the reviewer is on another runtime",
      { model: "one", reviewerRuntime: "claude" },
      { author: "one" }
    ]
  ] as const)("shows of the models that were given: %s", (_, options, models) => {
    assert.deepStrictEqual<unknown>(viewOf(story().executing(options)).models, models)
    assert.strictEqual("models" in viewOf(story().executing(options)), models !== undefined)
  })

  it("has no field that nobody gave, wherever the run stands", () => {
    const stands = [
      story().start(),
      story().start({}, onePhase.replace("# Plan of one\n\n", "")),
      story().start({}, "# Nothing to do\n"),
      detached(story().start()),
      story().executing(),
      story().executing(withGates).worked("abc1"),
      story().executing().phaseApproved("abc1"),
      story().executing().needsHuman("why?")
    ]
    for (const s of stands) assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(viewOf(s))), viewOf(s))
  })

  it("shows where it stands, what it waits for and what it has cost", () => {
    const s = story().executing(withGates).phaseApproved("abc1").needsHuman("why?")
    const view = runView(s.state)
    assert.containSubset(view, {
      runId,
      status: "waiting",
      planTitle: "Plan of two",
      directory: "/repo",
      host: "host1",
      phase: "2",
      step: "EXECUTE",
      attempt: 1,
      escalationId: "r1-test-e1",
      reason: "why?",
      authorSessionId: "r1-test-s2",
      auto: false,
      usage: { author: { turns: 2, cost: 1 }, reviewer: { turns: 0 } }
    })
    assert.deepStrictEqual(
      view?.phases.map(({ commit, qualityAttempts, reviewCycles, state }) => [
        state,
        commit,
        qualityAttempts,
        reviewCycles
      ]),
      [
        ["completed", "abc1", 1, 1],
        ["waiting", undefined, 0, 0]
      ]
    )
    assert.isBelow(Date.parse(view?.startedAt ?? ""), Date.parse(view?.updatedAt ?? ""))
  })

  it("shows a phase as running, as done before, and as not yet begun", () => {
    const statesOf = (s: Story) => runView(s.state)?.phases.map(({ state }) => state)
    assert.deepStrictEqual(statesOf(story().executing()), ["running", "pending"])
    assert.deepStrictEqual(statesOf(story().executing({ startPhase: "2" })), ["done-before", "running"])
    const aborted = story().executing()
    aborted.tell({ _tag: "AbortRun", runId, reason: "x" })
    assert.deepStrictEqual(statesOf(aborted), ["pending", "pending"])
  })

  it("is undefined for a run that was never started", () => {
    assert.isUndefined(runView(noRun))
  })

  it("counts sessions, and says when one was replaced", () => {
    const s = story().executing()
    const at = { runId, sessionId: s.author, role: "author" as const }
    s.tell({ _tag: "SessionCreated", ...at, runtime: "opencode", runtimeSessionId: "ses_1" })
    s.tell({ _tag: "SessionReused", ...at, runtimeSessionId: "ses_1", reason: "auto-fix" })
    s.tell({ _tag: "SessionReplaced", ...at, old: "ses_1", new: "ses_2", reason: "it was empty" })
    const view = runView(s.state)
    assert.deepStrictEqual([view?.sessionsCreated, view?.sessionsReused], [2, 1])
    const { author: sessionId } = s
    assert.deepStrictEqual(
      s.journal.filter(({ _tag }) => _tag === "SessionSeen"),
      [
        { _tag: "SessionSeen", kind: "created", sessionId },
        { _tag: "SessionSeen", kind: "reused", sessionId, reason: "auto-fix" },
        { _tag: "SessionSeen", kind: "replaced", sessionId, reason: "it was empty" }
      ]
    )
    assert.deepStrictEqual(view?.notices, ["Session r1-test-s1 was replaced: it was empty"])
  })
})
