import { assert, describe, it } from "@effect/vitest"
import { Host, TurnId, type Verdict } from "@reprise/protocol"
import { Result } from "effect"
import { reviewActor } from "../src/actor/actor.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import type { ReviewRequest } from "../src/prompts.ts"
import {
  at,
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
  request,
  requested,
  reused,
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

  it("tells a human the reviewer's last lines, with a verdict and without", () => {
    const lastLines = "Is R1 meant so?"
    const verdict = given(open).when({ ...completed(1, ready), lastLines })
    assert.deepInclude(verdict.published[0], { _tag: "VerdictReached", lastLines })
    const failure = given(open).when({ ...failedTurn(1), lastLines })
    assert.deepInclude(failure.published[0], { _tag: "ReviewFailed", lastLines })
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
    assert.containSubset(outcome.published, [{ reason: "The reviewer's turn ended without a verdict." }])
    assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "CompleteSession", sessionId: session(1) })
    assert.isUndefined(outcome.state.reviewer)
  })

  it("fails the review when two items have the same id", () => {
    const item = { id: "R1", title: "x", action: "auto_fix", reason: "", priority: "P1" } as const
    const outcome = given(open).when(completed(1, { readiness: "not_ready", items: [item, item] }))
    const reason = "The verdict has two items with the id R1."
    assert.deepInclude(outcome.published[0], { _tag: "ReviewFailed", kind: "invalid-report", reason })
  })

  it("compares each item of a verdict with all others", () => {
    const named = (...ids: ReadonlyArray<string>): Verdict => ({
      readiness: "not_ready",
      items: ids.map((id) => ({ id, title: "x", action: "auto_fix", reason: "", priority: "P1" }))
    })
    const distinct = named("R1", "R2", "R3")
    given(open)
      .when(completed(1, distinct))
      .then([reached(1, 1, "c1", distinct)])
    const reason = "The verdict has two items with the id R3."
    assert.containSubset(given(open).when(completed(1, named("R1", "R3", "R2", "R3"))).published, [{ reason }])
  })

  it("says when the model may be asked again, if that is known", () => {
    const retryAt = "2026-01-01T05:00:00.000Z"
    assert.containSubset(given(open).when({ ...failedTurn(1), retryAt }).published, [{ _tag: "ReviewFailed", retryAt }])
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

describe("interrupting a review", () => {
  const interrupt = { _tag: "InterruptReview", runId, phase, reason: "the run is paused" } as const
  const stopping: JournalEvent = {
    _tag: "ReviewInterrupted",
    sessionId: session(1),
    turnId: turn(1),
    reason: interrupt.reason
  }
  const aborted = (n: number, more: Partial<ReturnType<typeof failedTurn>> = {}) =>
    ({ ...failedTurn(n), kind: "aborted", sessionUsable: true, promptGiven: true, ...more }) as const
  const interrupting = [...open, stopping]
  const kept = (request: ReviewRequest, n = 1, given = true): ReadonlyArray<JournalEvent> => [
    {
      _tag: "ReviewFailed",
      ...at,
      ...{ sessionId: session(1), turnId: turn(n), cycle: request.cycle },
      ...{ reason: "the runtime broke", kind: "aborted", sessionKept: true }
    },
    { _tag: "ReviewerKept", sessionId: session(1), given }
  ]
  const interrupted = [...interrupting, ...kept(first)]
  const commandOf = (history: ReadonlyArray<JournalEvent>, asked: ReviewRequest) =>
    startTurnOf(given(history).when(asked).sent).command
  const inSession = { _tag: "Existing", sessionId: session(1) }

  it("stops the turn, and keeps its session when that has ended", () => {
    const outcome = given(open).when(interrupt)
    outcome.then([stopping])
    assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "InterruptTurn", turnId: turn(1) })
    const ended = given(interrupting).when(aborted(1))
    ended.then(kept(first))
    assert.deepStrictEqual(
      ended.sent.map(({ _tag }) => _tag),
      ["PublishEvent"]
    )
  })

  it("goes on in the session with the same commit, and hands the whole review to another if that is lost", () => {
    const words = [{ id: 1, from: "human", text: "Look at the tests too.", givenTo: [] }] as const
    const command = commandOf(interrupted, request(2, "c1", { words }))
    assert.deepInclude(command, { session: inSession, reason: "resume", onMissing: "fresh" })
    assert.strictEqual(
      command.prompt,
      "Continue the current session and complete all remaining tasks.\n\nThe user has provided the following additional guidance:\nLook at the tests too."
    )
    assert.match(String(command.freshPrompt), /^You are the reviewer of phase 2 /)
  })

  it("publishes that the review has started once its session is found", () => {
    const again = given(interrupted).when(request(2, "c1")).outcome
    assert.isTrue(Result.isSuccess(again))
    const history = [...interrupted, ...(Result.isSuccess(again) ? again.success : [])]
    const { published, state } = given(history).when(reused(2))
    assert.containSubset(published, [{ _tag: "ReviewStarted", sessionReused: true, cycle: 2 }])
    assert.strictEqual(state.sessions, 1)
  })

  it("gives the prompt again that its agent had not read", () => {
    const unread = commandOf([...interrupting, ...kept(first, 1, false)], request(2, "c1"))
    assert.deepInclude(unread, { session: inSession })
    assert.match(String(unread.prompt), /^You are the reviewer of phase 2 /)
    const later = [...followedUp, { ...stopping, turnId: turn(2) }, ...kept(second, 2, false)]
    assert.match(String(commandOf(later, request(3, "c2")).prompt), /^A new commit \(c2\) has been made/)
  })

  it("goes on as often as it is interrupted, and knows what it was told before", () => {
    const words = [{ id: 1, from: "human", text: "Look at the tests too.", givenTo: [] }] as const
    const resumed: JournalEvent = {
      _tag: "ReviewRequested",
      ...{ request: request(2, "c1", { words }), sessionId: session(1), turnId: turn(2), told: [], resumed: "begun" }
    }
    const twice = (known: boolean) => [
      ...[...interrupted, resumed, { ...stopping, turnId: turn(2) }],
      ...kept(request(2, "c1"), 2, known)
    ]
    const next = request(3, "c1", { words })
    const goesOn = "Continue the current session and complete all remaining tasks."
    assert.strictEqual(commandOf(twice(true), next).prompt, goesOn)
    assert.include(String(commandOf(twice(false), next).prompt), `${goesOn}\n\nThe user`)
  })

  it("reviews another commit in a new session, or from the commit that the session has reviewed", () => {
    const fresh = given(interrupted).when(second)
    const reason = "it was interrupted in the review of c1, and another commit is reviewed"
    const forgotten: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: false, reason }
    fresh.then([forgotten, ...requested(2, second, 2)])
    assert.deepInclude(startTurnOf(fresh.sent).command, { _tag: "CompleteSession", sessionId: session(1) })
    assert.include(JSON.stringify(fresh.sent), '"session":{"_tag":"New"}')
    const later = [...followedUp, { ...stopping, turnId: turn(2) }, ...kept(second, 2)]
    const command = commandOf(later, request(3, "c3"))
    assert.deepInclude(command, { session: inSession })
    assert.include(String(command.prompt), " c1..c3`")
  })

  it("fails the review when its session is not in order, or its turn failed by itself", () => {
    for (const [history, end] of [
      [interrupting, aborted(1, { sessionUsable: false })],
      [interrupting, failedTurn(1)],
      [interrupting, aborted(1, { kind: "runtime" })],
      [open, aborted(1)]
    ] as const) {
      const { outcome, state } = given(history).when(end)
      assert.containSubset(outcome, { success: [{ _tag: "ReviewFailed" }, { _tag: "ReviewerForgotten" }] })
      assert.isUndefined(state.interrupted)
    }
  })

  it("takes a verdict that was on its way", () => {
    given(interrupting)
      .when(completed(1, ready))
      .then([reached(1, 1, "c1")])
  })

  it("changes nothing when no review is open or the turn is being stopped already", () => {
    for (const history of [judged, interrupting, interrupted]) given(history).when(interrupt).then([])
    given([]).when(interrupt).refused("Phase 2 of run r1 was never reviewed.")
  })

  it("ends the session with the review when that is closed", () => {
    const close = { _tag: "CloseReview", runId, phase, aborted: true, reason: "enough" } as const
    const { sent, state } = given(interrupted).when(close)
    assert.deepInclude(startTurnOf(sent).command, { _tag: "AbortSession", sessionId: session(1) })
    assert.isUndefined(state.interrupted)
  })
})

describe("closing a review", () => {
  const close = (aborted: boolean) =>
    ({ _tag: "CloseReview", runId, phase, aborted, reason: "the phase is over" }) as const

  const move = { _tag: "MoveReview", runId, phase, from: Host.make("h1") } as const

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

  it.each([
    ["after a verdict", judged],
    ["during a review", open]
  ] as const)("when its host is gone, aborts the session there, and goes on in it elsewhere: %s", (_, history) => {
    const outcome = given(history).when(move)
    const moved: JournalEvent = { _tag: "ReviewerMoved", sessionId: session(1), from: move.from }
    outcome.then([moved])
    assert.deepInclude(startTurnOf(outcome.sent).command, { _tag: "AbortSession", onHost: "h1" })
    const again = given([...history, moved]).when(request(1, "c9", { directory: "/other" }))
    const { command, key } = startTurnOf(again.sent)
    assert.strictEqual(key, session(1))
    assert.deepInclude(command, {
      ...{ directory: "/other", onMissing: "fresh", reason: "host-gone", movedFrom: "h1" },
      session: { _tag: "Existing", sessionId: session(1) }
    })
    assert.match(
      String(command.freshPrompt),
      /^You are the reviewer[\s\S]*is gone[\s\S]*commit c9 completes this phase/
    )
    assert.deepStrictEqual([again.state.moved, again.state.sessions, again.state.open?.told], [undefined, 1, []])
  })

  it("goes on there also when its first turn there failed before its agent was told anything, and begins again after that", () => {
    const moved: JournalEvent = { _tag: "ReviewerMoved", sessionId: session(1), from: move.from }
    const asked: JournalEvent = {
      ...{ _tag: "ReviewRequested", request: first, sessionId: session(1), turnId: turn(2), movedFrom: move.from }
    }
    const untold = given([...judged, moved, asked]).when(failedTurn(2))
    assert.deepStrictEqual(untold.state.moved, { sessionId: session(1), from: move.from })
    const told = given([...judged, moved, asked]).when({ ...failedTurn(2), promptGiven: true })
    assert.isUndefined(told.state.moved)
  })

  it("forgets a session that is to go on elsewhere, so that a review that starts over gets a new one", () => {
    const moved: JournalEvent = { _tag: "ReviewerMoved", sessionId: session(1), from: move.from }
    const { state } = given([...judged, moved]).when(close(false))
    assert.isUndefined(state.moved)
    given([]).when(move).then([])
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
    ["not-found", [], { _tag: "InterruptReview", runId, phase, reason: "x" } as const],
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
  const { phase: _, ...ofNoPhase } = completed(1, ready)
  assert.isUndefined(route?.(ofNoPhase))
  assert.isUndefined(route?.({ ...completed(1, ready), role: "author" }))
})
