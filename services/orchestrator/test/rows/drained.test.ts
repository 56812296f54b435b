import { assert, describe, it } from "@effect/vitest"
import { anyHost, Host } from "@reprise/protocol"
import { head, runId, startRun } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const remote = { url: "https://git.example.org/app.git", ref: "main" }
const [first, other] = [Host.make("host1"), Host.make("host2")]

const started = (withRemote = true) =>
  story()
    .tell(withRemote ? { ...startRun(), workspace: "", remote } : startRun())
    .prepared()
const reviewed = (s: Story) => s.worked("abc1234").verdict("ready")
/** What the host reports when the phase is finished on it. */
const finishedOn = (s: Story, more: { readonly pushed?: string; readonly drained?: boolean }) =>
  s.treeClean(undefined, "abc1234", more)
const drained = { pushed: "reprise/plan", drained: true }
const preparedOn = (s: Story, host: Host) =>
  s.tell({ _tag: "WorkspacePrepared", runId, host, directory: "/other", head, branch: "reprise/plan" })

describe("PHASE_COMPLETE, on a host that is drained", () => {
  it("has the next phase begin on any other host, and the drained one free what it has", () => {
    const s = finishedOn(reviewed(started()), drained)
    assert.includeMembers(
      [...s.lines],
      ["RunMoved", "StepStarted PREPARE (host-drained)", "workspace PrepareWorkspace"]
    )
    assert.notInclude(s.lines, "PhaseStarted 2")
    assert.deepInclude(s.command("PrepareWorkspace"), { remote, host: anyHost, leaving: first, drained: true })
    assert.deepInclude(s.run, { status: "running", step: "PREPARE" })
    assert.notProperty(s.run, "host")
    assert.include(s.run.notices, "Host host1 is drained: the run moves elsewhere.")
    preparedOn(s, other)
    assert.include(s.lines, "PhaseStarted 2")
    assert.deepInclude(s.command("StartTurn"), { directory: "/other", host: other })
    assert.deepStrictEqual(
      s.run.outcomes.map(({ by, id }) => [id, by]),
      [["1", "review"]]
    )
  })

  it("keeps a phase that a human approved as it is: it was pushed", () => {
    const s = finishedOn(started().needsHuman().answer("override"), drained)
    preparedOn(s, other)
    assert.strictEqual(s.phase.id, "2")
  })

  it("leaves the run on the host where it could not go on elsewhere, was not pushed, or the host is not drained", () => {
    for (const [s, more] of [
      [started(false), { drained: true }],
      [started(), { drained: true }],
      [started(), { pushed: "reprise/plan" }]
    ] as const) {
      finishedOn(reviewed(s), more)
      assert.include(s.lines, "PhaseStarted 2")
      assert.strictEqual(s.run.host, first)
    }
  })

  it("completes a run whose last phase it was", () => {
    const s = finishedOn(reviewed(started()), {})
    finishedOn(reviewed(s), drained)
    assert.notInclude(s.lines, "RunMoved")
    assert.include(s.lines, "workspace WriteSummary")
  })

  it("is left when the run is resumed, if it was paused before", () => {
    const s = reviewed(started())
    s.tell({ _tag: "PauseRun", runId, now: false })
    finishedOn(s, drained)
    assert.strictEqual(s.run.status, "paused")
    s.tell({ _tag: "ResumeRun", runId }).phaseSummarised()
    assert.include(s.lines, "StepStarted PREPARE (host-drained)")
  })

  it("is left once: the next host is left only if it is drained, too", () => {
    const s = preparedOn(finishedOn(reviewed(started()), drained), other)
    assert.strictEqual(s.run.leaves, undefined)
  })
})
