/** The answer `fix` with another agent: who the fresh authors of the phase are (docs/decisions/0033-fix-by-another.md). */
import { assert, describe, it } from "@effect/vitest"
import type { AgentChoice } from "@reprise/protocol"
import { runView } from "../../src/machine/view.ts"
import { summaryOf } from "../../src/phase/summary.ts"
import { item, runId } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const fixBy = (s: Story, agent: Partial<AgentChoice>, guidance?: string) =>
  s.tell({ ...s.answerOf({ choice: "fix", ...(guidance === undefined ? {} : { guidance }) }), ...agent })

/** Runtime and model of the newest turn that was begun, and the variant where there is one. */
const turn = (s: Story) => {
  const { model, runtime, session, variant } = s.command("StartTurn")
  return [session._tag, runtime, model, ...(variant === undefined ? [] : [variant])]
}
const takesAgent = (s: Story) => s.question.ask.options.find(({ name }) => name === "fix")?.agent === true
const asking = () => story().executing({ model: "first/one" }).needsHuman()

describe("ESCALATE, fix with an agent", () => {
  it("starts a fresh author on that runtime, says so, and releases the one before", () => {
    const s = asking()
    assert.isTrue(takesAgent(s))
    const before = s.author
    assert.deepStrictEqual(fixBy(s, { runtime: "claude", model: "opus" }).lines, [
      "AuthorChanged",
      "StepResumed EXECUTE (answer)",
      "StepStarted EXECUTE (fix)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.notStrictEqual(s.author, before)
    assert.deepStrictEqual(turn(s), ["New", "claude", "opus"])
  })

  it.each<[string, Partial<AgentChoice>, ReadonlyArray<string | undefined>]>([
    ["a model of another runtime is none of this one", { runtime: "claude" }, ["New", "claude", undefined]],
    ["a model is one of the author's runtime", { model: "other/two" }, ["New", "opencode", "other/two"]],
    ["the run's runtime has the run's model", { runtime: "opencode" }, ["New", "opencode", "first/one"]],
    ["a variant is one of the author's model", { variant: "high" }, ["New", "opencode", "first/one", "high"]],
    [
      "a variant is one of the model that is named",
      { runtime: "claude", variant: "low" },
      ["New", "claude", undefined, "low"]
    ],
    ["nobody is named", {}, ["New", "opencode", "first/one"]]
  ])("resolves what is named: %s", (_, named, expected) => {
    assert.deepStrictEqual<unknown>(turn(fixBy(asking(), named)), expected)
  })

  it("says nothing of an agent that the author is already", () => {
    assert.notInclude(fixBy(asking(), { runtime: "opencode", model: "first/one" }).lines, "AuthorChanged")
  })

  it("holds for every fresh author of the phase, and ends with it", () => {
    const s = fixBy(asking(), { runtime: "claude" }).needsHuman().answer("fix")
    assert.deepStrictEqual(turn(s), ["New", "claude", undefined])
    s.phaseApproved("abc1234")
    assert.strictEqual(s.phase.id, "2")
    assert.deepStrictEqual(turn(s), ["New", "opencode", "first/one"])
  })

  it("goes back to the run's own agent with its name", () => {
    const s = fixBy(asking(), { runtime: "claude" }).needsHuman()
    assert.deepStrictEqual(turn(fixBy(s, { runtime: "opencode" })), ["New", "opencode", "first/one"])
  })

  it("leaves the reviewer as it was", () => {
    const s = fixBy(asking(), { runtime: "claude", model: "opus" }).worked("abc1234")
    assert.deepInclude(s.command("RequestReview"), { runtime: "opencode", model: "first/one" })
  })

  it("continues each session on the runtime that it was begun on", () => {
    const s = fixBy(asking(), { runtime: "claude", model: "opus" }).needsHuman().answer("continue-session")
    assert.strictEqual(s.command("ContinueSession").model, "opus")
    const worked = fixBy(asking(), { runtime: "claude", model: "opus" }).worked("abc1234")
    worked.verdict("not_ready", item("R1", "auto_fix"))
    assert.deepStrictEqual(turn(worked), ["Existing", "claude", "opus"])
  })

  it("keeps to the runtime of a session in which work goes on before the other agent has begun", () => {
    // The hand-over stops at its limit: the author's session is still the one before.
    const done = { completedTasks: [{ id: "T1", commit: "abc1234", files: ["a"] }] }
    const s = story()
      .executing({ model: "first/one", limits: { maxContinuations: 1 } })
      .reports({ result: "needs_human", reason: "x", ...done })
      .answer("fix")
      .stateWritten()
      .tasksVerified()
      .needsHuman()
    fixBy(s, { runtime: "claude", model: "opus" })
    assert.strictEqual(s.question.ask.origin, "limit")
    const { author } = s
    s.agentWorks("human", author).agent("AgentIdle", author)
    assert.deepStrictEqual(turn(s), ["Existing", "opencode", "first/one"])
  })

  it("leads to the author where fix alone would review again", () => {
    const s = story().executing().worked("abc1234").verdict("not_ready")
    assert.isTrue(takesAgent(s))
    assert.deepStrictEqual(turn(fixBy(s, { runtime: "claude" })), ["New", "claude", undefined])
    assert.strictEqual(s.run.step, "AUTO_FIX")
  })

  it("hands the verified record over first where tasks are done", () => {
    const done = { completedTasks: [{ id: "T1", commit: "abc1234", files: ["a"] }] }
    const s = story()
      .executing()
      .reports({ result: "needs_human", reason: "x", ...done })
    fixBy(s, { runtime: "claude" })
    assert.include(s.lines, "workspace WriteContinuationState")
    assert.deepStrictEqual(turn(s.stateWritten().tasksVerified()), ["New", "claude", undefined])
  })
})

describe("where fix starts no author", () => {
  it("takes no agent when a review is begun again", () => {
    const s = story().executing().worked("abc1234").reviewFails()
    assert.isFalse(takesAgent(s))
  })

  it("takes none at a plan that changed", () => {
    const s = story().executing().worked("abc1234").verdict("ready").treeClean("# Another plan")
    assert.deepStrictEqual([s.question.ask.origin, takesAgent(s)], ["plan", false])
  })
})

describe("the model of an author that a human has chosen", () => {
  const change = { _tag: "ChangeModel", runId, role: "author", model: "sonnet" } as const

  it("is changed for the phase only, where its runtime is not the run's", () => {
    const s = fixBy(asking(), { runtime: "claude", model: "opus" }).tell(change).needsHuman().answer("fix")
    assert.deepStrictEqual(turn(s), ["New", "claude", "sonnet"])
    s.phaseApproved("abc1234")
    assert.deepStrictEqual(turn(s), ["New", "opencode", "first/one"])
  })

  it("is changed for the run too, where its runtime is the run's", () => {
    const s = fixBy(asking(), { model: "other/two" })
      .tell({ ...change, model: "third/three" })
      .needsHuman()
      .answer("fix")
    assert.deepStrictEqual(turn(s), ["New", "opencode", "third/three"])
    s.phaseApproved("abc1234")
    assert.deepStrictEqual(turn(s), ["New", "opencode", "third/three"])
  })
})

describe("who the author of a phase is", () => {
  it("is in the view, the notices and the summary, with who has chosen", () => {
    const s = fixBy(asking(), { runtime: "claude", model: "opus" })
    assert.deepStrictEqual(runView(s.run)?.phases[0]?.author, { runtime: "claude", model: "opus" })
    assert.strictEqual(runView(s.run)?.models?.author, "opus")
    assert.include(s.run.notices.at(-1), "The author of phase 1 is claude, model opus from now on, chosen by anna.")
    const authors = [{ phase: "1", runtime: "claude", model: "opus", by: "anna" }]
    assert.deepStrictEqual(summaryOf(s.run).authors, authors as never)
    s.phaseApproved("abc1234")
    assert.deepStrictEqual(summaryOf(s.run).authors, authors as never)
    assert.notProperty(runView(s.run)?.phases[1], "author")
  })
})
