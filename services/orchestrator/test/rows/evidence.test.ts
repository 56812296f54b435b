/** What a question tells of the agent that asks: its session, its own words, since when it is idle, how full it is. */
import { assert, describe, it } from "@effect/vitest"
import { withGates } from "../support/samples.ts"
import { type Story, story } from "../support/story.ts"

const context = { tokens: 90_000, limit: 200_000 }
const needsHuman = { result: "needs_human", reason: "Which way?" } as const
const facts = ({ question: { ask } }: Story) => {
  const { authorSessionId, context, idleSince, lastLines, sessionId } = ask.evidence
  return { authorSessionId, context, idleSince, lastLines, sessionId: ask.sessionId ?? sessionId }
}
const nothingKnown = { authorSessionId: undefined, context: undefined, idleSince: undefined, lastLines: undefined }

describe("a question of the author", () => {
  it("tells its last words, since when it is idle, and how full its conversation is", () => {
    const s = story().executing()
    s.tell(s.turnReport(needsHuman, { context }))
    assert.deepStrictEqual(facts(s), {
      authorSessionId: undefined,
      context,
      idleSince: s.run.updatedAt,
      lastLines: "I stop here",
      sessionId: s.author
    })
  })

  it("leaves out what its runtime does not tell", () => {
    const s = story().executing()
    const { lastLines: _, ...silent } = s.turnReport(needsHuman)
    assert.deepStrictEqual(facts(s.tell(silent)), {
      ...nothingKnown,
      idleSince: s.run.updatedAt,
      sessionId: s.author
    })
  })

  it("counts the idle time from its report, also when it is asked later", () => {
    const s = story().executing({ ...withGates, limits: { maxQualityRetries: 0 } })
    s.completes("abc1")
    const reportedAt = s.run.updatedAt
    assert.strictEqual(facts(s.commitVerified().gates(false)).idleSince, reportedAt)
  })

  it("counts the idle time from the end of a human's work in its session", () => {
    const s = story()
      .executing({ ...withGates, limits: { maxQualityRetries: 0 } })
      .worked("abc1")
    s.agentWorks().agent("AgentIdle")
    const restedAt = s.run.updatedAt
    assert.strictEqual(facts(s.gates(false)).idleSince, restedAt)
  })

  it("does not call an agent idle that waits within its turn, or may be at work still", () => {
    assert.isUndefined(facts(story().executing().needsHuman().answer("c").agentPrompts("p1")).idleSince)
    assert.isUndefined(facts(story().executing().turnFails("runtime")).idleSince)
    const usable = story().executing().turnFails("rate_limited", true)
    assert.strictEqual(facts(usable).idleSince, usable.run.updatedAt)
  })

  it("takes the words and the context of a turn that failed, too", () => {
    const s = story().executing()
    s.tell({ ...s.turnFailure("gone", true), context, lastLines: "Almost there" })
    assert.deepInclude(facts(s), { context, lastLines: "Almost there" })
  })

  it("tells what the agent wrote in its turn before it asked for a permission", () => {
    const prompt = { _tag: "AgentPrompting", promptId: "p1", kind: "permission", text: "May I?", options: [] } as const
    const s = story().executing().needsHuman().answer("c")
    s.tell({ ...prompt, runId: s.run.runId, sessionId: s.author, lastLines: "I need a key." })
    assert.strictEqual(facts(s).lastLines, "I need a key.")
  })

  it("does not tell the words of the author before it", () => {
    const s = story().executing().needsHuman().answer("fix").agentPrompts("p1")
    assert.deepStrictEqual(facts(s), { ...nothingKnown, sessionId: s.author })
  })
})

describe("a question of the reviewer", () => {
  const reviewing = () => story().executing().worked("abc1234")

  it("tells the reviewer's session, words, idle time and context, and where the author is", () => {
    const s = reviewing().reviewerAsks({ context })
    assert.deepStrictEqual(facts(s), {
      authorSessionId: s.author,
      context,
      idleSince: s.run.updatedAt,
      lastLines: "Is R1 meant so?",
      sessionId: s.reviewer
    })
    assert.isUndefined(s.question.ask.sessionId, "it is not continued")
  })

  it("names no session of a review that failed, since that has ended, but tells its last words", () => {
    const s = reviewing().reviewBreaks()
    const { cycle } = s.pending("Review")
    const place = { runId: s.run.runId, phase: s.phase.id, cycle }
    s.tell({ _tag: "ReviewFailed", ...place, reason: "no verdict", kind: "runtime", lastLines: "I cannot read it." })
    assert.deepStrictEqual(facts(s), {
      ...nothingKnown,
      authorSessionId: s.author,
      lastLines: "I cannot read it.",
      sessionId: undefined
    })
  })

  it("does not tell the author's words when it asks for a permission", () => {
    const s = reviewing()
    s.agentPrompts("p1", "permission", s.reviewer)
    assert.deepStrictEqual(facts(s), { ...nothingKnown, sessionId: s.reviewer })
  })

  it("no longer names a session that ends while it is open", () => {
    const s = reviewing().reviewerAsks()
    assert.deepStrictEqual(s.agent("SessionExpired", s.reviewer).lines, ["gate RaiseEscalation"])
    assert.deepStrictEqual([facts(s).sessionId, facts(s).authorSessionId], [undefined, s.author])
    s.agent("SessionExpired")
    assert.deepStrictEqual([facts(s).sessionId, facts(s).authorSessionId], [undefined, undefined])
    assert.deepStrictEqual(s.agent("SessionArchived", s.reviewer).lines, [])
  })
})
