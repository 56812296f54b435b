import { assert, describe, it } from "@effect/vitest"
import { sessionPrompts } from "@reprise/protocol"
import type { JournalEvent } from "../src/actor/journal.ts"
import {
  at,
  failed,
  first,
  followedUp,
  given,
  goesOn,
  judged,
  open,
  reached,
  replaced,
  request,
  requested,
  reused,
  second,
  session,
  startTurnOf,
  turn
} from "./support/reviews.ts"

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

  it.each([
    ["true when its session was found", reused(2), true],
    ["false when the session was replaced", replaced(2), false]
  ] as const)(
    "publishes that a later review has started once the session is known: sessionReused is %s",
    (_, event, isReused) => {
      const outcome = given(followedUp).when(event)
      outcome.then(goesOn(isReused))
      assert.deepStrictEqual(
        outcome.sent.map((one) => one._tag),
        ["PublishEvent"]
      )
    }
  )

  it("publishes once that a review has started, and nothing for a turn that is not its own", () => {
    given([...followedUp, ...goesOn(true)])
      .when(replaced(2))
      .then([])
    given(open).when(reused(1)).then([])
    given(followedUp).when(reused(7)).then([])
  })

  it("leaves out of the short prompt what its session was told before, by a request or at once", () => {
    const said = (id: number, givenTo: ReadonlyArray<ReturnType<typeof session>> = []) =>
      ({ id, from: "human", text: `Words ${id}.`, givenTo }) as const
    const earlier = request(1, "c1", { words: [said(1)] })
    const history = [...requested(1, earlier, 1), reached(1, 1, "c1")]
    const later = request(2, "c2", { words: [said(1), said(2, [session(1)]), said(3)] })
    const { command } = startTurnOf(given(history).when(later).sent)
    const told = ["Words 1.", "Words 2.", "Words 3."].filter((text) => String(command.prompt).includes(text))
    assert.deepStrictEqual(told, ["Words 3."])
    assert.include(String(command.freshPrompt), "Words 1.\n\nWords 2.\n\nWords 3.")
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
      instructionsFrom: "base",
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
    const closed: JournalEvent = { _tag: "ReviewerForgotten", sessionId: session(1), aborted: false, reason: "again" }
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
