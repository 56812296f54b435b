import { assert, describe, it } from "@effect/vitest"
import { reviewActor } from "../src/actor/actor.ts"
import { evolve } from "../src/actor/evolve.ts"
import type { JournalEvent, JournalEventOf } from "../src/actor/journal.ts"
import { react } from "../src/actor/react.ts"
import { initial, type ReviewState } from "../src/actor/state.ts"
import {
  first,
  followedUp,
  given,
  goesOn,
  judged,
  open,
  reached,
  ready,
  request,
  session,
  startTurnOf,
  turn
} from "./support/reviews.ts"

const after = (...events: ReadonlyArray<JournalEvent>): ReviewState => events.reduce(evolve, initial)

const interrupted: JournalEvent = { _tag: "ReviewInterrupted", sessionId: session(1), turnId: turn(1), reason: "x" }
const kept: JournalEvent = { _tag: "ReviewerKept", sessionId: session(1), given: true }

describe("an event of a review that is not open", () => {
  it.each([interrupted, kept, ...goesOn(true)])("changes nothing: $_tag", (event) => {
    for (const state of [after(), after(...judged)]) assert.strictEqual(evolve(state, event), state)
  })

  it("leaves the verdict to the request, with what its session was told before", () => {
    const words = [{ id: 4, from: "human", text: "Look there.", givenTo: [] }] as const
    const told = after(
      { ...(open[0] as JournalEventOf<"ReviewRequested">), request: { ...first, words } },
      reached(1, 1, "c1")
    )
    assert.deepStrictEqual(evolve(told, reached(2, 2, "c2")).reviewer, {
      sessionId: session(1),
      commit: "c2",
      told: [4]
    })
    assert.deepStrictEqual(evolve(initial, reached(2, 2, "c2")).reviewer?.told, [])
  })
})

describe("a verdict of an earlier version, which names no session", () => {
  const { sessionId: _session, turnId: _turn, ...bare } = reached(1, 1, "c1") as JournalEventOf<"VerdictReached">

  it("leaves no session to go on in, and is shown without one", () => {
    assert.notProperty(after(...open, bare), "reviewer")
    assert.deepStrictEqual<unknown>(reviewActor.view?.(after(...open, bare)), {
      ...{ reviewId: "r1-p2", runId: first.runId, phase: first.phase, status: "judged" },
      ...{ cycle: 1, commit: "c1", verdict: ready, turns: 1, sessions: 1 }
    })
  })
})

describe("what is held of an interrupted review", () => {
  const asked = request(1, "c1", { decisions: [{ id: 7, text: "Use SQLite." }] })
  const requested: JournalEventOf<"ReviewRequested"> = {
    ...{ _tag: "ReviewRequested", request: asked },
    ...{ sessionId: session(1), turnId: turn(1), told: [3] }
  }
  const inSession = { sessionId: session(1), commit: "c1" }

  it.each([
    ["what its agent was told, once it has read it", {}, true, { told: [3, 7], begun: true }],
    ["nothing that its agent has not read", {}, false, { told: [3], begun: false }],
    ["that it had begun before", { resumed: "begun" }, false, { told: [3], begun: true }],
    ["that it had not begun before", { resumed: "unread" }, false, { told: [3], begun: false }],
    ["the commit before", { lastReviewed: "c0" }, false, { lastReviewed: "c0", told: [3], begun: false }]
  ] as const)("is %s", (_, more, given, held) => {
    const { interrupted } = after({ ...requested, ...more }, { ...kept, given })
    assert.deepStrictEqual<unknown>(interrupted, { ...inSession, ...held })
  })
})

describe("a request to go on", () => {
  const words = [{ id: 0, from: "human", text: "Words 0.", givenTo: [] }] as const
  const second = request(2, "c2", { words })
  const existing = { _tag: "Existing", sessionId: session(1) }
  const begins = /^You are the reviewer/
  const followsUp = /^A new commit \(c2\)/
  const resumes = /^Continue the current session/

  it.each([
    ["begins a session for the first review", {}, { _tag: "New" }, undefined, begins],
    ["follows up a verdict", { lastReviewed: "c1" }, existing, "review-cycle", followsUp],
    ["resumes what was begun", { resumed: "begun" }, existing, "resume", resumes],
    ["resumes a later review that was begun", { resumed: "begun", lastReviewed: "c1" }, existing, "resume", resumes],
    ["repeats a prompt that was not read", { resumed: "unread" }, existing, "resume", begins],
    ["repeats a later one", { resumed: "unread", lastReviewed: "c1" }, existing, "resume", followsUp]
  ] as const)("%s, with all words where it names none that are known", (_, more, inSession, reason, prompt) => {
    const event: JournalEvent = {
      ...{ _tag: "ReviewRequested", request: second, sessionId: session(1), turnId: turn(2) },
      ...more
    }
    const { command } = startTurnOf(react(after(...followedUp), [event]))
    assert.deepStrictEqual(command["session"], inSession)
    assert.strictEqual(command["reason"], reason)
    assert.match(String(command["prompt"]), prompt)
    assert.include(String(command["prompt"]), "Words 0.")
  })

  it("passes the variant of the model on", () => {
    const { command } = startTurnOf(given([]).when(request(1, "c1", { variant: "high" })).sent)
    assert.strictEqual(command["variant"], "high")
    assert.notProperty(startTurnOf(given([]).when(first).sent).command, "variant")
  })
})
