import { assert, describe, it } from "@effect/vitest"
import { type ContinuationOptions, defaultRunOptions, noTokens } from "@reprise/protocol"
import { chooseSession, type Measured, type Occasion } from "../src/agents/session.ts"
import { withGates } from "./support/samples.ts"
import { type Story, story } from "./support/story.ts"

const sound: Measured = {
  state: "usable",
  contextTokens: 50_000,
  contextLimit: 100_000,
  ageMs: 60_000,
  failedContinuations: 0
}
const hour = 3_600_000

describe("continue or fresh, where no human chooses", () => {
  it.each<[Occasion, Partial<Measured>, Partial<ContinuationOptions>, "continue" | "fresh", RegExp]>([
    ["step", {}, {}, "continue", /within its limits/],
    ["step", { contextTokens: 86_000 }, {}, "fresh", /86 % full, and the limit is 85 %/],
    ["step", { contextTokens: 85_000 }, {}, "continue", /within/],
    ["step", { contextTokens: 99_000 }, { maxContextFill: 0 }, "continue", /within/],
    ["step", { contextTokens: 120_000, contextLimit: undefined }, {}, "continue", /within/],
    ["step", { contextTokens: 190_000, contextLimit: undefined }, {}, "fresh", /95 % full/],
    ["step", { contextTokens: 190_000, contextLimit: undefined }, { contextWindow: 0 }, "continue", /within/],
    ["step", { contextTokens: undefined }, {}, "continue", /within/],
    ["step", { ageMs: 25 * hour }, {}, "fresh", /25.0 h old, and the limit is 24.0 h/],
    ["step", { ageMs: 25 * hour }, { maxSessionAgeMs: 0 }, "continue", /within/],
    ["step", { ageMs: 24 * hour }, {}, "continue", /within/],
    ["step", { failedContinuations: 1 }, {}, "fresh", /1 continued turns failed/],
    ["step", { failedContinuations: 1 }, { maxFailed: 2 }, "continue", /within/],
    ["step", { failedContinuations: 9 }, { maxFailed: 0 }, "continue", /within/],
    ["step", { state: "ended", why: "the session has expired" }, {}, "fresh", /has expired/],
    ["step", { state: "doubtful" }, {}, "fresh", /not known/],
    ["step", { state: "none" }, {}, "fresh", /no author's session/],
    ["step", { state: "moved", why: "host h1 is gone", ageMs: 99 * hour }, {}, "continue", /h1 is gone: .* saved/],
    ["step", { state: "moved", elsewhere: "the fixer is on claude" }, {}, "fresh", /on claude/],
    ["unattended", { state: "moved" }, {}, "fresh", /auto mode/],
    ["checkpoint", {}, {}, "fresh", /checkpoint/],
    ["unattended", {}, {}, "fresh", /auto mode/],
    ["unattended", {}, { unattended: "continue" }, "continue", /within/],
    ["unattended", { contextTokens: 99_000 }, { unattended: "continue" }, "fresh", /99 % full/]
  ])("%s, with %j and %j: %s", (occasion, measured, options, choice, why) => {
    const decision = chooseSession(
      occasion,
      { ...sound, ...measured },
      { ...defaultRunOptions.continuation, ...options }
    )
    assert.strictEqual(decision.choice, choice)
    assert.match(decision.why, why)
  })

  it("reports the numbers that were measured", () => {
    assert.deepStrictEqual(chooseSession("step", sound, defaultRunOptions.continuation), {
      choice: "continue",
      why: "the session is usable and within its limits",
      contextFill: 0.5,
      contextTokens: 50_000,
      ageMs: 60_000,
      failedContinuations: 0
    })
  })
})

/** What the newest step's event says of its session. */
const said = (s: Story) => {
  const event = s.journal.findLast((one) => one._tag === "StepStarted")
  return event?._tag === "StepStarted" ? event.session : undefined
}

describe("the choice for a reviewer", () => {
  const finding = { id: "R1", title: "Say more", action: "auto_fix", reason: "short", priority: "P1" } as const
  /** The second review of a phase; the first one left the reviewer's context this full, of 100 000 tokens. */
  const secondReview = (tokens: number, continuation: object = {}) => {
    const s = story().executing({ continuation }).worked("abc1")
    s.tell({
      ...s.verdictEvent({ readiness: "not_ready", items: [finding] }),
      context: { tokens, limit: 100_000 }
    })
    return s.worked("abc2")
  }

  it("keeps the session of the review before, with the numbers in the step's event", () => {
    const s = secondReview(20_000)
    assert.deepStrictEqual(s.lines, ["StepStarted REVIEW (fixed)", "reviewer RequestReview"])
    assert.deepInclude(said(s), { choice: "continue", contextFill: 0.2, contextTokens: 20_000 })
  })

  it.each([
    ["its context is nearly full", 95_000, {}, /95 % full/],
    ["it is older than the limit", 20_000, { maxSessionAgeMs: 1 }, /old, and the limit is/]
  ])("begins in a new session when %s", (_, tokens, options, why) => {
    const s = secondReview(tokens, options)
    assert.deepStrictEqual(s.lines.slice(1), ["reviewer CloseReview", "reviewer RequestReview"])
    const closed = s.journal.findLast((event) => event._tag === "ReviewClosed")
    assert.match(closed?._tag === "ReviewClosed" ? closed.reason : "", why)
    assert.deepStrictEqual(s.command("RequestReview").findings, [finding])
    assert.deepInclude(said(s), { choice: "fresh" })
  })

  it("is not made for the first review of a phase, nor after one that failed", () => {
    const s = story().executing().worked("abc1")
    assert.isUndefined(said(s))
    assert.isUndefined(said(s.reviewBreaks()))
    assert.isUndefined(s.phase.reviewer?.context)
  })
})

describe("the choice in a run", () => {
  const done = [{ id: "P1.1", commit: "abc1", files: ["a.ts"] }]
  const working = (tokens: number, completedTasks = done) => {
    const s = story().executing(withGates)
    const status = { result: "complete" as const, commit: "abc1", completedTasks }
    return s.tell(s.turnReport(status, { context: { tokens, limit: 100_000 } })).commitVerified()
  }

  it("reuses a session with room in its context, and gives the reason and the numbers in the step's event", () => {
    const s = working(20_000).gates(false)
    assert.deepInclude(said(s), { choice: "continue", contextFill: 0.2, contextTokens: 20_000, failedContinuations: 0 })
    assert.isNumber(said(s)?.ageMs)
  })

  it("replaces a session that is nearly full: the record is written and verified, then a fresh author begins the step", () => {
    const s = working(95_000)
    const before = s.author
    s.gates(false)
    assert.deepStrictEqual(s.lines, ["workspace WriteContinuationState"])
    s.stateWritten().tasksVerified()
    assert.deepStrictEqual(s.lines, [
      "StepStarted QUALITY_RETRY (gates-failed)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.notStrictEqual(s.author, before)
    assert.deepInclude(said(s), { choice: "fresh", contextFill: 0.95 })
    assert.include(s.prompt, "| P1.1 | Begin | abc1 |")
    assert.deepInclude(s.run.savings[0], { continuedTurns: 0, unsentTokens: 95_000 })
  })

  it("replaces an expired session in the same way", () => {
    const s = working(10).agent("SessionExpired").gates(false)
    assert.deepStrictEqual(s.lines, ["workspace WriteContinuationState"])
    assert.match(said(s.stateWritten().tasksVerified())?.why ?? "", /has expired/)
  })

  it("starts a fresh author at once when no task is done", () => {
    const s = working(95_000, []).gates(false)
    assert.deepStrictEqual(s.lines, [
      "StepStarted QUALITY_RETRY (gates-failed)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.deepInclude(said(s), { choice: "fresh" })
  })

  it("starts a new session in auto mode, or continues the session if configured", () => {
    const asked = (options: object) => {
      const s = story().executing({ auto: true, ...options })
      const before = s.author
      s.needsHuman()
      return { s, same: s.pending("Turn").sessionId === before }
    }
    assert.isFalse(asked({}).same)
    const { s, same } = asked({ continuation: { unattended: "continue" } })
    assert.isTrue(same)
    assert.deepStrictEqual(s.lines, ["StepStarted EXECUTE (auto-retry)", "session-manager ContinueSession"])
    // A continued turn that failed is not continued again.
    s.reports({ result: "failed", reason: "no" })
    assert.deepStrictEqual(s.lines, [
      "StepStarted EXECUTE (auto-retry)",
      "session-manager StartTurn",
      "session-manager ReleaseSession"
    ])
    assert.deepInclude(said(s), { choice: "fresh" })
  })

  it("counts the cached tokens of turns that continue a session", () => {
    const s = working(20_000).gates(false)
    const { sessionId, turnId } = s.pending("Turn")
    s.tell({
      _tag: "SessionReused",
      runId: s.run.runId,
      sessionId,
      turnId,
      runtimeSessionId: "x",
      reason: "quality-fix"
    })
    s.tell(s.turnReport({ result: "complete" }, { tokens: { ...noTokens, cacheRead: 777 } }))
    assert.deepStrictEqual(s.run.savings, [
      { phase: s.phase.id, continuedTurns: 1, cachedTokens: 777, unsentTokens: 0 }
    ])
  })
})
