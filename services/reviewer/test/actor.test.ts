import { assert, describe, it } from "@effect/vitest"
import { given as givenActor } from "@reprise/actor/testing"
import {
  Host,
  noTokens,
  type PublicEvent,
  RunId,
  reviewerSessionIdOf,
  reviewerTurnIdOf,
  reviewKey,
  sessionPrompts,
  TurnId,
  type Verdict
} from "@reprise/protocol"
import { reviewActor } from "../src/actor/actor.ts"
import type { ReviewInput } from "../src/actor/inputs.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import type { ReviewRequest } from "../src/prompts.ts"

const runId = RunId.make("r1")
const phase = "2"
const key = reviewKey(runId, phase)
const given = (history: ReadonlyArray<JournalEvent>) => {
  const { state, when } = givenActor(reviewActor)(history)
  return { state, when: (input: ReviewInput, to = key) => when(input, { key: to }) }
}
const at = { runId, phase, step: "REVIEW" as const }
const session = (n: number) => reviewerSessionIdOf(runId, phase, n)
const turn = (n: number) => reviewerTurnIdOf(runId, phase, n)

const request = (cycle: number, commit: string, more: Partial<ReviewRequest> = {}): ReviewRequest => ({
  _tag: "RequestReview",
  runId,
  phase,
  commit,
  base: "base",
  reviewPath: "docs/review.md",
  planPath: "PLAN.md",
  cycle,
  directory: "/work/repository",
  host: Host.make("h1"),
  runtime: "opencode",
  permissions: "ask",
  limits: {},
  prompts: {},
  ...more
})

const ready: Verdict = { readiness: "ready", items: [] }
const usage = { tokens: noTokens, cost: 0, duration: 0, attempts: 1 }
type EventOf<Tag extends PublicEvent["_tag"]> = Extract<PublicEvent, { _tag: Tag }>

const completed = (n: number, verdict?: Verdict): EventOf<"TurnCompleted"> => ({
  _tag: "TurnCompleted",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  report: "verdict",
  ...(verdict === undefined ? {} : { verdict }),
  ...usage
})

const failedTurn = (n: number): EventOf<"TurnFailed"> => ({
  _tag: "TurnFailed",
  ...at,
  role: "reviewer",
  sessionId: session(1),
  turnId: turn(n),
  kind: "runtime",
  message: "the runtime broke",
  sessionUsable: false,
  ...usage
})

const requested = (n: number, asked: ReviewRequest, s: number, lastReviewed?: string): ReadonlyArray<JournalEvent> => [
  {
    _tag: "ReviewRequested",
    request: asked,
    turnId: turn(n),
    sessionId: session(s),
    ...(lastReviewed === undefined ? {} : { lastReviewed })
  },
  {
    _tag: "ReviewStarted",
    ...at,
    sessionId: session(s),
    turnId: turn(n),
    sessionReused: lastReviewed !== undefined,
    cycle: asked.cycle,
    commit: asked.commit
  }
]

const reached = (n: number, cycle: number, commit: string, verdict = ready): JournalEvent => ({
  _tag: "VerdictReached",
  ...at,
  sessionId: session(1),
  turnId: turn(n),
  verdict,
  commit,
  cycle
})

const failed = (n: number, cycle: number, s = 1): ReadonlyArray<JournalEvent> => [
  {
    _tag: "ReviewFailed",
    ...at,
    sessionId: session(s),
    turnId: turn(n),
    reason: "the runtime broke",
    kind: "runtime",
    cycle
  },
  {
    _tag: "ReviewerForgotten",
    sessionId: session(s),
    aborted: false,
    reason: "its review failed: the runtime broke"
  }
]

const first = request(1, "c1")
const second = request(2, "c2")
const open = requested(1, first, 1)
const judged = [...open, reached(1, 1, "c1")]
const followedUp = [...judged, ...requested(2, second, 1, "c1")]

const startTurnOf = (sent: ReadonlyArray<{ readonly _tag: string }>) => {
  const found = sent.find((one) => one._tag === "SendCommand")
  assert.isDefined(found)
  return found as unknown as { readonly key: string; readonly command: Record<string, unknown> }
}

describe("requesting a review", () => {
  it("gives the full prompt to a new session for the first review of a phase", () => {
    const outcome = given([]).when(first)
    outcome.then(open)
    const { command, key } = startTurnOf(outcome.sent)
    assert.strictEqual(key, "r1-p2-s1")
    assert.deepInclude(command, {
      _tag: "StartTurn",
      turnId: "r1-p2-t1",
      role: "reviewer",
      session: { _tag: "New" },
      report: "verdict",
      onMissing: "fresh"
    })
    assert.match(String(command.prompt), /^You are the reviewer of phase 2 of the plan PLAN\.md\.\n/)
    assert.isUndefined(command.freshPrompt)
  })

  it("gives the same session the short prompt for a later review, and the full one in case the session is gone", () => {
    const outcome = given(judged).when(second)
    outcome.then(requested(2, second, 1, "c1"))
    const { command, key } = startTurnOf(outcome.sent)
    assert.strictEqual(key, "r1-p2-s1")
    assert.deepInclude(command, { session: { _tag: "Existing", sessionId: "r1-p2-s1" }, onMissing: "fresh" })
    assert.match(String(command.prompt), /^A new commit \(c2\) has been made in response to your review feedback\.\n/)
    assert.match(String(command.freshPrompt), /^You are the reviewer of phase 2 /)
  })

  it("changes nothing when it is repeated while the verdict is awaited", () => {
    given(open).when(first).then([])
  })

  it("publishes the same verdict without another turn when it is repeated after the verdict", () => {
    const outcome = given(judged).when(first)
    outcome.then([reached(1, 1, "c1")])
    assert.deepStrictEqual(
      outcome.sent.map((one) => one._tag),
      ["PublishEvent"]
    )
  })

  it("is refused for another commit while one is under review", () => {
    given(open)
      .when(second)
      .refused(/^Commit c1 is under review \(cycle 1\)/)
  })

  it.each([
    ["the same commit in a later cycle", request(2, "c1")],
    ["another commit in the same cycle", request(1, "c2")]
  ])("reviews %s, and refuses it while a review is open", (_, asked) => {
    given(judged)
      .when(asked)
      .then(requested(2, asked, 1, "c1"))
    given(open)
      .when(asked)
      .refused(/under review/)
  })

  it("continues from the commit that was reviewed last, not from the first one", () => {
    const third = request(3, "c3")
    given([...followedUp, reached(2, 2, "c2")])
      .when(third)
      .then(requested(3, third, 1, "c2"))
  })

  it("passes everything that the request says about the turn to the session-manager", () => {
    const asked = request(2, "c2", {
      model: "m",
      permissions: "all",
      limits: { maxAgentTurns: 7 },
      prompts: { report: "Report: {schema}" }
    })
    const { command, key } = startTurnOf(given(judged).when(asked).sent)
    const { freshPrompt, prompt, ...rest } = command
    assert.strictEqual(key, session(1))
    assert.isString(prompt)
    assert.isString(freshPrompt)
    assert.deepStrictEqual(rest, {
      _tag: "StartTurn",
      ...at,
      turnId: turn(2),
      role: "reviewer",
      session: { _tag: "Existing", sessionId: session(1) },
      reason: "review-cycle",
      onMissing: "fresh",
      runtime: "opencode",
      model: "m",
      directory: "/work/repository",
      host: "h1",
      permissions: "all",
      title: "Review of phase 2",
      report: "verdict",
      ...sessionPrompts(asked.prompts),
      limits: { maxAgentTurns: 7 }
    })
    assert.isNotEmpty(sessionPrompts(asked.prompts))
  })

  it("gives the full prompt to a new session after a failed review", () => {
    const outcome = given([...open, ...failed(1, 1)]).when(first)
    outcome.then(requested(2, first, 2))
    assert.match(String(startTurnOf(outcome.sent).command.prompt), /^You are the reviewer/)
  })

  it("begins a new session after a failed follow-up review", () => {
    given([...followedUp, ...failed(2, 2)])
      .when(second)
      .then(requested(3, second, 2))
  })

  it("reviews the same commit again after the review was closed, because nothing is remembered", () => {
    const closed: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: false, reason: "anew" }
    given([...judged, closed])
      .when(first)
      .then(requested(2, first, 2))
  })

  it("begins a new session for another commit after the review was aborted", () => {
    const closed: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: true, reason: "paused" }
    given([...judged, closed])
      .when(second)
      .then(requested(2, second, 2))
  })
})

describe("the end of a reviewer's turn", () => {
  it("reaches a verdict for the commit that was reviewed", () => {
    given(open)
      .when(completed(1, ready))
      .then([reached(1, 1, "c1")])
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
