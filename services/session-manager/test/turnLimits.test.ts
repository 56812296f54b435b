import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { countAttempt } from "../src/session/actions.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { defaultActions } from "../src/settings.ts"
import { maxActions } from "../src/turn/promptResults.ts"
import {
  answer,
  at,
  badReport,
  failed,
  firstTurn,
  given,
  givenAsked,
  givenWith,
  goodReport,
  nextTurn,
  sessionId,
  startAlone,
  stopped,
  t
} from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const retry = (number: number): SessionInput => ({ _tag: "RetryPrompt", turnId: t(1), number })
const silent = { toolCalls: 0, tokens: { input: 1, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 } }
const idle = (number: number, more: Parameters<typeof stopped>[3] = silent) => stopped(1, number, "unfinished", more)

describe("a turn that makes no progress", () => {
  it("is nudged fifty times at most", () => {
    assert.strictEqual(maxActions, 50)
    const nudging = givenWith({ actions: { onIdle: [{ action: "nudge", attempts: 1000 }] } })
    const stops = (count: number) => [...working, ...Array.from({ length: count }, (_, index) => idle(index + 1))]
    assert.include(nudging(stops(49)).when(idle(50)).types, "PromptPrepared")
    assert.deepStrictEqual(nudging(stops(50)).when(idle(51)).types, ["PromptEnded", "TurnFailed"])
  })

  it("is continued after fifty failures at most", () => {
    const onError = { ...defaultActions.onError, other: [{ action: "continue" as const, attempts: 1000 }] }
    const continuing = givenWith({ actions: { onError } })
    const failure = failed(1, 1, "other", silent)
    const failures = (count: number) => [...working, ...Array.from({ length: count }, () => failure)]
    assert.include(continuing(failures(49)).when(failure).types, "PromptRetried")
    assert.include(continuing(failures(50)).when(failure).types, "TurnFailed")
  })

  it("leaves all actions available to the next turn", () => {
    const history = [...working, idle(1), answer(1, 2, "x"), answer(1, 3, goodReport), nextTurn(2)]
    assert.strictEqual(given(history).state.actionCount, 0)
  })

  it("is nudged again once the agent has used a tool or written anything", () => {
    const nudged = [...working, idle(1)]
    const again = (more: Parameters<typeof stopped>[3]) => given(nudged).when(idle(2, more), at(200)).types
    assert.include(again({ ...silent, toolCalls: 1 }), "PromptPrepared")
    assert.include(again({ toolCalls: 0, tokens: { ...silent.tokens, output: 1 } }), "PromptPrepared")
    assert.include(again(silent), "TurnFailed")
  })

  it("forgets the attempts of the actions after the one that is taken", () => {
    assert.deepStrictEqual(countAttempt({ counts: [1, 2, 3] }, { index: 0, attempt: 2 }, at(1)), {
      counts: [2],
      lastAt: at(1)
    })
  })
})

describe("the counters of a turn", () => {
  it("do not count a crash as a turn limit", () => {
    const outcome = givenWith({ maxAutoContinues: 1 })([...working, idle(1)]).when(stopped(1, 2, "turn-limit"))
    assert.include(outcome.types, "PromptPrepared")
  })

  it("do not count a turn limit as an unreadable report", () => {
    const history = [...working, stopped(1, 1, "turn-limit"), answer(1, 2, "x")]
    assert.strictEqual(
      givenAsked(history)
        .when(answer(1, 3, badReport))
        .event("PromptPrepared").kind,
      "correction"
    )
  })

  it("appear in the message of a turn that reached its turn limit too often", () => {
    const outcome = givenWith({ maxAutoContinues: 1 })([...working, stopped(1, 1, "turn-limit")])
    const { message } = outcome.when(stopped(1, 2, "turn-limit")).event("TurnFailed")
    assert.include(message, "2 times")
  })

  it("begin at one attempt, even before the first prompt, and never give a negative duration", () => {
    const abort = { _tag: "AbortSession", sessionId, reason: "the run was aborted" } as const
    const outcome = given(firstTurn.slice(0, 1)).when(abort, at(-10))
    assert.deepInclude(outcome.event("TurnFailed"), { attempts: 1, duration: 0 })
    assert.strictEqual(outcome.state.lastStopReason, "aborted: the run was aborted")
  })
})

describe("a delayed prompt", () => {
  const patient = givenWith({ actions: { onIdle: [{ action: "nudge", attempts: 9, cooldownMs: 60_000 }] } })
  const delayed = [...working, idle(1), idle(2)]

  it("is never sent when its turn is interrupted before, which ends at once", () => {
    const interrupt = { _tag: "InterruptTurn", sessionId, turnId: t(1), reason: "the run is paused" } as const
    assert.deepInclude(patient(delayed).when(interrupt).event("TurnFailed"), { kind: "aborted", sessionUsable: true })
  })

  it("does not count as another attempt when it is sent for the first time", () => {
    const history = [...delayed, retry(3), answer(1, 3, "x")]
    assert.strictEqual(
      patient(history)
        .when(answer(1, 4, goodReport))
        .event("TurnCompleted").attempts,
      1
    )
  })

  it("counts as another attempt when it has failed and is sent again", () => {
    const outcome = patient([...delayed, retry(3), failed(1, 3, "rate_limited")]).when(retry(3))
    assert.notProperty(outcome.event("PromptRetried"), "first")
  })

  it("may ask for the report", () => {
    const reporting = givenWith({ actions: { onIdle: [{ action: "report", attempts: 9, cooldownMs: 60_000 }] } })
    const outcome = reporting([...working, idle(1)]).when(idle(2), at(12))
    assert.deepInclude(outcome.event("PromptPrepared"), { kind: "report", delayMs: 50_000 })
  })

  it("is not sent by the timer of an earlier prompt", () => {
    given([...working, answer(1, 1, "x"), failed(1, 2, "rate_limited")])
      .when(retry(1))
      .then([])
  })
})

describe("a wait", () => {
  it("takes at least a second, even if the runtime asks for less", () => {
    const outcome = given(working).when(failed(1, 1, "rate_limited", { retryAfterMs: 10 }))
    assert.strictEqual(outcome.event("TurnWaiting").waitMs, 1000)
  })

  it("is as long as the configured time between two attempts", () => {
    const onError = { ...defaultActions.onError, rate_limited: [{ action: "wait" as const, cooldownMs: 300_000 }] }
    const history = [...working, failed(1, 1, "rate_limited"), retry(1)]
    const outcome = givenWith({ actions: { onError } })(history).when(failed(1, 1, "rate_limited"), at(62))
    assert.strictEqual(outcome.event("TurnWaiting").waitMs, 240_000)
  })
})

describe("a turn id", () => {
  const refused = (count: number) => Array.from({ length: count }, (_, index) => nextTurn(index + 1))

  it("is recognised among the last hundred turns", () => {
    given(refused(100)).when(nextTurn(1)).then([])
    given(refused(101)).when(nextTurn(101)).then([])
  })

  it("is forgotten after a hundred later turns", () => {
    assert.include(given(refused(101)).when(nextTurn(1)).types, "TurnFailed")
  })
})

describe("the refusal of a turn", () => {
  const code = (history: ReadonlyArray<SessionInput>, input: SessionInput) =>
    given(history).when(input).event("CommandRefused").code

  it("says by its code whether the session is busy, has ended or exists already", () => {
    assert.strictEqual(code(working, nextTurn(2)), "busy")
    assert.strictEqual(code([...firstTurn, { _tag: "CompleteSession", sessionId }], nextTurn(2)), "ended")
    const again = { ...nextTurn(2), session: { _tag: "New" as const } }
    assert.strictEqual(code(firstTurn, again), "exists")
    assert.isFalse(given(firstTurn).when(again).event("TurnFailed").sessionUsable)
  })

  it("says that a standalone session takes no turns from another run", () => {
    given([startAlone])
      .when(nextTurn(2))
      .refused(/belongs to no run/)
  })

  it("does not bind a turn that starts an ended session over to the old host", () => {
    const host = Host.make("h2")
    const outcome = given([...firstTurn, { _tag: "CompleteSession", sessionId }])
    assert.strictEqual(
      outcome.when(nextTurn(2, { onMissing: "fresh", host })).event("TurnRequested").session.host,
      host
    )
  })
})
