/** Agents by role and rule (docs/decisions/0043-agents-by-role-and-rule.md). */
import { assert, describe, it } from "@effect/vitest"
import { renderSummary } from "@reprise/plan"
import type { StepAgent } from "@reprise/protocol"
import { allTokens } from "../../src/limits/usage.ts"
import { runView } from "../../src/machine/view.ts"
import { summaryOf } from "../../src/phase/summary.ts"
import { item, type OptionsInput, runId, withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const claude = { reviewerRuntime: "claude" } as const
const done = { completedTasks: [{ id: "P1.1", commit: "abc1234", files: ["a"] }] }

/** The agents of the steps so far, as their events name them. */
const agents = (s: Story): ReadonlyArray<string> =>
  s.journal.flatMap((event) => {
    if (event._tag !== "StepStarted" || event.agent === undefined) return []
    const { by, model, role, rule, runtime } = event.agent
    const why = by ?? (rule === undefined ? "" : `rule ${rule.number}`)
    return [[event.step, role, runtime, model ?? "", why].join(" ").trim()]
  })

const usageOf = (s: Story) => {
  const view = runView(s.run)
  if (view === undefined) throw new Error("The run is not shown.")
  return view.usage
}

const author = (s: Story) => {
  const { model, runtime, session, variant } = s.command("StartTurn")
  return [session._tag, runtime, model, variant]
}
const reviewer = (s: Story) => {
  const { model, runtime, variant } = s.command("RequestReview")
  return [runtime, model, variant]
}

/** Whether the newest review began in a new session. */
const closedFirst = (s: Story) => s.lines.includes("reviewer CloseReview")

describe("who does a step", () => {
  it("is not said where all agents are the run's own", () => {
    const s = story()
      .executing({ model: "a/b", author: { variant: "high" } })
      .worked("abc1")
      .verdict("ready")
    assert.deepStrictEqual(agents(s), [])
    assert.deepStrictEqual(author(s), ["New", "opencode", "a/b", "high"])
    assert.deepStrictEqual(reviewer(s), ["opencode", "a/b", "high"])
  })

  it("is said of each step of an agent where the reviewer is another one", () => {
    const s = story()
      .executing({ ...claude, ...withGates })
      .worked("abc1")
      .gates(true)
    assert.deepStrictEqual(agents(s), ["EXECUTE author opencode", "REVIEW reviewer claude"])
    const checked = s.journal.find((event) => event._tag === "StepStarted" && event.step === "QUALITY_CHECK")
    assert.isDefined(checked)
    assert.notProperty(checked, "agent")
  })

  it("is the fixer after a review and after failed gates, in a session of its own from the verified record", () => {
    const s = story().executing({ ...withGates, fixer: { runtime: "claude", model: "opus", variant: "high" } })
    s.reports({ result: "complete", commit: "abc1234", ...done })
      .commitVerified()
      .gates(false)
    assert.include(s.lines, "workspace WriteContinuationState")
    s.stateWritten().tasksVerified()
    assert.deepStrictEqual(author(s), ["New", "claude", "opus", "high"])
    assert.include(s.lines, "session-manager ReleaseSession")
    const fixer = s.author
    s.completes("abc1235").commitVerified().gates(true).verdict("not_ready", item("R1"))
    assert.deepStrictEqual(author(s), ["Existing", "claude", "opus", "high"])
    assert.strictEqual(s.author, fixer)
    assert.deepStrictEqual(agents(s), [
      "EXECUTE author opencode",
      "QUALITY_RETRY fixer claude opus",
      "REVIEW reviewer opencode",
      "AUTO_FIX fixer claude opus"
    ])
    const started = s.journal.findLast((event) => event._tag === "StepStarted" && event.step === "QUALITY_RETRY")
    assert.include(
      started?._tag === "StepStarted" ? started.session?.why : "",
      "the fixer is on claude, and the session on opencode"
    )
  })

  it("counts what the fixer uses as its own, in the run's budgets as in its summary", () => {
    const s = story()
      .executing({ fixer: { runtime: "claude" } })
      .worked("abc1")
    const before = s.run.usage.author
    assert.isUndefined(usageOf(s).fixer)
    assert.isUndefined(s.command("StartTurn").fixer)
    s.verdict("not_ready", item("R1"))
    assert.isTrue(s.command("StartTurn").fixer)
    s.tell(s.turnReport({ result: "complete", commit: "abc2" }, { fixer: true })).commitVerified()
    const { author: after, fixer } = usageOf(s)
    assert.deepStrictEqual([after, fixer?.turns], [before, 1])
    assert.isAbove(fixer?.tokens.input ?? 0, 0)
    assert.isAtLeast(allTokens(s.run).input, before.tokens.input + (fixer?.tokens.input ?? 0))
    assert.match(renderSummary(summaryOf(s.run)), /\| 1 \| fixer \| \d+/)
  })

  it("counts what the author mends as the author's", () => {
    const s = story().executing().worked("abc1").verdict("not_ready", item("R1")).completes("abc2").commitVerified()
    assert.isUndefined(usageOf(s).fixer)
  })

  it("keeps the author's session where only the model of the fixer differs", () => {
    const s = story()
      .executing({ model: "a/b", fixer: { model: "c/d" } })
      .worked("abc1")
      .verdict("not_ready", item("R1"))
    assert.deepStrictEqual(author(s), ["Existing", "opencode", "c/d", undefined])
  })

  it("is the author again in the next phase", () => {
    const s = story()
      .executing({ fixer: { runtime: "claude" } })
      .worked("abc1")
      .verdict("not_ready", item("R1"))
    s.completes("abc2").commitVerified().verdict("ready").treeClean()
    assert.strictEqual(s.phase.id, "2")
    assert.deepStrictEqual(author(s), ["New", "opencode", undefined, undefined])
  })
})

describe("rules", () => {
  const reviewed = (options: OptionsInput) =>
    story().executing(options).worked("abc1").verdict("not_ready", item("R1"), item("R2")).worked("abc2")

  it("change the reviewer's model from a review on, in its session", () => {
    const s = reviewed({ ...claude, reviewer: { rules: [{ fromReview: 2, model: "opus", variant: "max" }] } })
    assert.deepStrictEqual(reviewer(s), ["claude", "opus", "max"])
    assert.isFalse(closedFirst(s))
    assert.deepStrictEqual(agents(s).slice(-1), ["REVIEW reviewer claude opus rule 1"])
  })

  it("change the reviewer's runtime from a review on, in a new session that is told the open findings", () => {
    const s = reviewed({ reviewer: { rules: [{ fromReview: 2, runtime: "claude" }] } })
    assert.isTrue(closedFirst(s))
    assert.deepStrictEqual(reviewer(s), ["claude", undefined, undefined])
    assert.deepStrictEqual(
      s.command("RequestReview").findings.map(({ id }) => id),
      ["R1", "R2"]
    )
    // The next one goes on in its session.
    s.verdict("not_ready", item("R1")).worked("abc3")
    assert.isFalse(closedFirst(s))
  })

  it("count the reviews that reached a verdict: one that broke is done again by the same reviewer", () => {
    const s = story()
      .executing({ reviewer: { rules: [{ fromReview: 2, runtime: "claude" }] } })
      .worked("abc1")
      .reviewFails()
    assert.deepStrictEqual(reviewer(s), ["opencode", undefined, undefined])
  })

  it("change the fixer after failed retries, in a new session, and hold until the phase ends", () => {
    const s = story().executing({ ...withGates, author: { rules: [{ afterRetries: 2, runtime: "claude" }] } })
    const retries = () => s.completes("abc1").commitVerified().gates(false)
    assert.deepStrictEqual(author(retries()), ["Existing", "opencode", undefined, undefined])
    assert.deepStrictEqual(author(retries()), ["Existing", "opencode", undefined, undefined])
    assert.deepStrictEqual(author(retries()), ["New", "claude", undefined, undefined])
    s.completes("abc1").commitVerified().gates(true).verdict("not_ready", item("R1"))
    assert.deepStrictEqual(author(s), ["Existing", "claude", undefined, undefined])
    s.completes("abc1").commitVerified().gates(true).verdict("ready").treeClean()
    assert.deepStrictEqual(author(s), ["New", "opencode", undefined, undefined])
  })

  it("count retries in auto mode", () => {
    const s = story().executing({ auto: true, author: { rules: [{ afterRetries: 1, runtime: "claude" }] } })
    assert.deepStrictEqual(author(s.turnFails("other")), ["New", "opencode", undefined, undefined])
    assert.deepStrictEqual(author(s.turnFails("other")), ["New", "claude", undefined, undefined])
  })

  it("change the model of a session whose context is full, and do not change it back", () => {
    const rules = [{ contextOver: 0.5, model: "big/one" }]
    const s = story().executing({ ...withGates, author: { rules } })
    s.tell(s.turnReport({ result: "complete", commit: "abc1" }, { context: { tokens: 60, limit: 100 } }))
    s.commitVerified().gates(false)
    assert.deepStrictEqual(author(s), ["Existing", "opencode", "big/one", undefined])
    s.tell(s.turnReport({ result: "complete", commit: "abc2" }, { context: { tokens: 60, limit: 1000 } }))
    s.commitVerified().gates(false)
    assert.deepStrictEqual(author(s), ["Existing", "opencode", "big/one", undefined])
  })

  it("find a full context where a fresh author takes over from the record", () => {
    const rules = [{ contextOver: 0.5, model: "big/one" }]
    const s = story().executing({ ...withGates, author: { rules } })
    s.tell(s.turnReport({ result: "complete", commit: "abc1234", ...done }, { context: { tokens: 90, limit: 100 } }))
    s.commitVerified().gates(false).stateWritten().tasksVerified()
    assert.deepStrictEqual(author(s), ["New", "opencode", "big/one", undefined])
  })
})

describe("a human", () => {
  const stuck = () =>
    story()
      .executing({ fixer: { runtime: "claude", model: "opus" } })
      .worked("abc1")
      .verdict("not_ready", item("R1"))
      .needsHuman()

  it("who names an agent has the last word, for the author and the fixer, until the phase ends", () => {
    const s = stuck()
    s.tell({ ...s.answerOf({ choice: "fix" }), runtime: "opencode" })
    assert.deepStrictEqual(author(s), ["New", "opencode", undefined, undefined])
    assert.deepStrictEqual(agents(s).slice(-1), ["AUTO_FIX fixer opencode  anna"])
    s.worked("abc2").verdict("ready").treeClean()
    assert.deepStrictEqual(author(s), ["New", "opencode", undefined, undefined])
    assert.strictEqual(s.phase.id, "2")
  })

  it("who continues a session goes on with whoever works in it", () => {
    const s = story().executing({ fixer: { runtime: "claude" }, limits: { maxReviewIterations: 1 } })
    s.worked("abc1").verdict("not_ready", item("R1")).worked("abc2")
    assert.strictEqual(s.question.ask.origin, "limit")
    const { author: fixer } = s
    s.answer("continue-session")
    assert.strictEqual(s.command("StartTurn").session._tag, "Existing")
    assert.deepStrictEqual(author(s), ["Existing", "claude", undefined, undefined])
    assert.strictEqual(s.author, fixer)
  })

  it("changes the fixer's model for the rest of the phase only", () => {
    const s = stuck().tell({ _tag: "ChangeModel", runId, role: "author", model: "sonnet" }).answer("continue-session")
    assert.strictEqual(s.command("ContinueSession").model, "sonnet")
    assert.isUndefined(s.run.models)
    s.completes("abc2").commitVerified().verdict("ready").treeClean()
    assert.deepStrictEqual(author(s), ["New", "opencode", undefined, undefined])
  })

  it("changes the model that a rule has led to", () => {
    const s = story()
      .executing({ reviewer: { rules: [{ fromReview: 2, runtime: "claude", model: "opus", variant: "max" }] } })
      .worked("abc1")
      .verdict("not_ready", item("R1"))
      .worked("abc2")
      .reviewBreaks("unauthorized")
    s.answer("change-model", "sonnet")
    assert.deepStrictEqual(reviewer(s), ["claude", "sonnet", undefined])
  })
})

describe("who has done a phase", () => {
  it("is in the view and in the summary, each agent once, with the rule that led to it", () => {
    const s = story().executing({
      ...claude,
      reviewer: { rules: [{ fromReview: 2, model: "opus" }] },
      fixer: { model: "c/d" }
    })
    s.worked("abc1")
      .verdict("not_ready", item("R1"), item("R2"))
      .worked("abc2")
      .verdict("not_ready", item("R1"))
      .worked("abc3")
    const expected: ReadonlyArray<StepAgent> = [
      { role: "author", runtime: "opencode" },
      { role: "reviewer", runtime: "claude" },
      { role: "fixer", runtime: "opencode", model: "c/d" },
      { role: "reviewer", runtime: "claude", model: "opus", rule: { number: 1, when: "from review 2 on" } }
    ]
    assert.deepStrictEqual(runView(s.run)?.phases[0]?.agents, expected)
    s.verdict("ready").treeClean()
    assert.deepStrictEqual(runView(s.run)?.phases[0]?.agents, expected)
    assert.include(
      renderSummary(summaryOf(s.run)),
      `## Agents

- Phase 1: the author is opencode
- Phase 1: the reviewer is claude
- Phase 1: the fixer is opencode, model c/d
- Phase 1: the reviewer is claude, model opus (from review 2 on)
- Phase 2: the author is opencode
`
    )
  })
})
