import { assert, describe, it } from "@effect/vitest"
import { TurnId, type Verdict } from "@reprise/protocol"
import { reviewActor } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import {
  completed,
  failed,
  failedTurn,
  first,
  followedUp,
  given,
  judged,
  open,
  phase,
  reached,
  ready,
  runId,
  second,
  session,
  startTurnOf,
  turn
} from "./support/reviews.ts"

describe("the end of a reviewer's turn", () => {
  it("reaches a verdict for the commit that was reviewed", () => {
    given(open)
      .when(completed(1, ready))
      .then([reached(1, 1, "c1")])
  })

  it("hands on how full the context of the reviewer's session is", () => {
    const context = { tokens: 900, limit: 1000 }
    const { outcome } = given(open).when({ ...completed(1, ready), context })
    assert.containSubset(outcome, { success: [{ _tag: "VerdictReached", context }] })
  })

  it("publishes 'ready with corrections' without items unchanged, for the run machine to judge", () => {
    const verdict: Verdict = { readiness: "ready_with_corrections", items: [] }
    given(open)
      .when(completed(1, verdict))
      .then([reached(1, 1, "c1", verdict)])
  })

  it("fails the review and completes its session when there is no verdict", () => {
    const outcome = given(open).when(completed(1))
    assert.deepStrictEqual(
      outcome.published.map((event) => event._tag),
      ["ReviewFailed"]
    )
    assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "CompleteSession", sessionId: session(1) })
    assert.isUndefined(outcome.state.reviewer)
  })

  it("fails the review when two items have the same id", () => {
    const item = { id: "R1", title: "x", action: "auto_fix", reason: "", priority: "P1" } as const
    const outcome = given(open).when(completed(1, { readiness: "not_ready", items: [item, item] }))
    assert.deepInclude(outcome.published[0], { _tag: "ReviewFailed", kind: "invalid-report" })
  })

  it.each([
    ["id", { id: " ", title: "x" }],
    ["title", { id: "R1", title: " " }]
  ])("fails the review when an item has no %s", (_, names) => {
    const item = { ...names, action: "auto_fix", reason: "", priority: "P1" } as const
    const { published } = given(open).when(completed(1, { readiness: "not_ready", items: [item] }))
    assert.containSubset(published, [
      { _tag: "ReviewFailed", kind: "invalid-report", reason: "The verdict has an item without an id or a title." }
    ])
  })

  it("fails the review and forgets its session when the turn failed", () => {
    given(open).when(failedTurn(1)).then(failed(1, 1))
  })

  it.each([
    ["an earlier turn", followedUp, completed(1, ready)],
    ["the failure of an earlier turn", followedUp, failedTurn(1)],
    ["a turn that was already judged", judged, completed(1, ready)],
    ["a turn when no review was requested", [], completed(1, ready)],
    ["a turn with an unknown id", open, { ...completed(1, ready), turnId: TurnId.make("r1-t1") }]
  ] as const)("changes nothing for %s", (_title, history, event) => {
    given(history).when(event).then([])
  })
})

describe("closing a review", () => {
  const close = (aborted: boolean) =>
    ({ _tag: "CloseReview", runId, phase, aborted, reason: "the phase is over" }) as const

  it("completes the session after a verdict", () => {
    const outcome = given(judged).when(close(false))
    outcome.then([{ _tag: "ReviewerForgotten", sessionId: session(1), aborted: false, reason: "the phase is over" }])
    assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "CompleteSession" })
  })

  it("aborts the session when the run is aborted or while it is reviewing", () => {
    for (const outcome of [given(judged).when(close(true)), given(open).when(close(false))]) {
      assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "AbortSession", reason: "the phase is over" })
    }
  })

  it("changes nothing the second time", () => {
    const closed: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: false, reason: "x" }
    given([...judged, closed])
      .when(close(false))
      .then([])
  })

  it("is refused before the first review", () => {
    given([]).when(close(true)).refused("Phase 2 of run r1 was never reviewed.")
  })

  it("makes a late verdict of the aborted turn change nothing", () => {
    const closed: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: true, reason: "x" }
    given([...open, closed])
      .when(completed(1, ready))
      .then([])
  })
})

describe("a command whose subject names another review", () => {
  it.each([first, { _tag: "CloseReview", runId, phase, aborted: true, reason: "x" }] as const)(
    "is refused ($_tag)",
    (command) => {
      given(judged)
        .when({ ...command, phase: "3" })
        .refused("The message for r1-p2 names phase 3 of run r1, whose review is r1-p3.")
    }
  )
})

describe("every refusal", () => {
  it.each([
    ["busy", open, second],
    ["not-found", [], { _tag: "CloseReview", runId, phase, aborted: true, reason: "x" } as const],
    ["misaddressed", [], { ...first, phase: "3" }]
  ] as const)("has the code %s", (code, history, command) => {
    assert.containSubset(given(history).when(command).outcome, { failure: { code } })
  })
})

it("knows the run of a review once the review was requested", () => {
  assert.strictEqual(reviewActor.runOf(given(open).state), runId)
  assert.isUndefined(reviewActor.runOf(given([]).state))
})

describe("the view of a review", () => {
  const viewOf = (history: ReadonlyArray<JournalEvent>) => reviewActor.view?.(given(history).state)
  const of = { reviewId: "r1-p2", runId, phase, sessions: 1 }
  const inSession = { sessionId: session(1) }

  it("shows the review under way, then the last verdict, then that it was closed", () => {
    assert.isUndefined(viewOf([]))
    const reviewing = { ...of, ...inSession, status: "reviewing", turnId: turn(1), cycle: 1, commit: "c1", turns: 1 }
    assert.deepStrictEqual<unknown>(viewOf(open), reviewing)
    const verdict = { ...reviewing, status: "judged", verdict: ready }
    assert.deepStrictEqual<unknown>(viewOf(judged), verdict)
    const again = { ...verdict, status: "reviewing", turnId: turn(2), cycle: 2, commit: "c2", turns: 2 }
    assert.deepStrictEqual<unknown>(viewOf(followedUp), again)
    assert.deepStrictEqual<unknown>(viewOf([...open, ...failed(1, 1)]), { ...of, status: "closed", turns: 1 })
  })
})

it("routes a reviewer's turn to the review of its phase, and an author's turn nowhere", () => {
  const route = reviewActor.subscription?.route
  assert.strictEqual(route?.(completed(1, ready)), "r1-p2")
  assert.isUndefined(route?.({ ...completed(1, ready), role: "author" }))
})
