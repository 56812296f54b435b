import { assert, describe, it } from "@effect/vitest"
import { Host, SessionId } from "@reprise/protocol"
import { Duration } from "effect"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  answer,
  at,
  firstTurn,
  found,
  given,
  givenWith,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  sessionId,
  t
} from "./support/story.ts"

const working = firstTurn.slice(0, 2)
const abort = { _tag: "AbortSession", sessionId, reason: "the run was aborted" } as const
const complete = { _tag: "CompleteSession", sessionId } as const

describe("abort", () => {
  it("ends the turn and the session, and interrupts the agent", () => {
    const outcome = given(working).when(abort)
    assert.deepStrictEqual(outcome.types, ["TurnFailed", "SessionAborted"])
    assert.deepInclude(outcome.event("TurnFailed"), { turnId: t(1), kind: "aborted", sessionUsable: false })
    assert.deepStrictEqual(outcome.work[0], {
      _tag: "RequestWork",
      host: Host.make("h1"),
      work: {
        _tag: "InterruptSession",
        runtime: "opencode",
        directory: "/work/repository",
        runtimeSessionId: "ses_1"
      }
    })
  })

  it("is published once; a second abort is refused, and so is the abort of a session that has ended", () => {
    given([...working, abort])
      .when(abort)
      .refused("Session r1-s1 is aborted: there is nothing to abort.")
    given([...firstTurn, complete])
      .when(abort)
      .refused("Session r1-s1 is completed: there is nothing to abort.")
  })

  it.each([
    abort,
    complete,
    { _tag: "ExpireSession", sessionId },
    { _tag: "ReplyToPrompt", sessionId, promptId: "p", reply: "once" },
    { _tag: "ContinueSession", sessionId, turnId: t(2), onMissing: "fail" }
  ] as const)("and every other command is refused by a session that it does not name ($_tag)", (command) => {
    given(firstTurn)
      .when({ ...command, sessionId: SessionId.make("r1-s2") })
      .refused("This is session r1-s1, not r1-s2.")
  })

  it("ignores a runtime session that is opened afterwards", () => {
    given([newTurn(1), abort])
      .when(opened(1))
      .then([])
  })

  it("of an unknown session is refused", () => {
    given([])
      .when(abort)
      .refused(/no session r1-s1/)
  })
})

describe("complete and expire", () => {
  it("end a session without an open turn", () => {
    assert.deepStrictEqual(given(firstTurn).when(complete).types, ["SessionCompleted"])
    assert.deepStrictEqual(given(firstTurn).when({ _tag: "ExpireSession", sessionId }).types, ["SessionExpired"])
  })

  it("leave no question of the agent open", () => {
    const asking: SessionInput = {
      _tag: "RecordAgentQuestion",
      promptId: "p",
      kind: "permission",
      text: "ls",
      options: []
    }
    for (const end of [complete, { _tag: "ExpireSession", sessionId } as const]) {
      assert.deepStrictEqual(given([...firstTurn, asking, end]).state.agentQuestions, [])
    }
  })

  it("are refused while a turn is open", () => {
    given(working)
      .when(complete)
      .refused(/r1-t1 is under way/)
    given(working)
      .when({ _tag: "ExpireSession", sessionId })
      .refused(/r1-t1 is under way/)
  })

  it("change nothing in a session that has ended", () => {
    given([...firstTurn, complete])
      .when(complete)
      .then([])
    given([...firstTurn, abort])
      .when(complete)
      .then([])
    given([...firstTurn, complete])
      .when({ _tag: "ExpireSession", sessionId })
      .refused("Session r1-s1 is completed: there is nothing to expire.")
  })
})

describe("a session that nobody uses", () => {
  const standalone = [newTurn(1), ...firstTurn.slice(1)].map((input): SessionInput => {
    if (input._tag !== "StartTurn") return input
    const { phase: _, ...rest } = input
    return rest
  })

  it("is paused five minutes after its turn", () => {
    const outcome = given(firstTurn.slice(0, 3)).when(answer(1, 2, goodReport))
    const [timer] = outcome.timers
    assert.strictEqual(timer?.dueAt, at(60 + 300))
    assert.deepStrictEqual(timer?.command, { _tag: "PauseIdle", useCount: outcome.state.useCount })
  })

  const pause = (inputs: ReadonlyArray<SessionInput>): SessionInput => ({
    _tag: "PauseIdle",
    useCount: given(inputs).state.useCount
  })

  const day = 24 * 60 * 60
  const released: SessionInput = { _tag: "ReleaseSession", sessionId }

  it.each<readonly [string, ReadonlyArray<SessionInput>, Parameters<typeof givenWith>[0], number | undefined]>([
    ["expires after half an hour when it belongs to no phase", standalone, {}, 1800],
    ["expires after half an hour when its phase has released it", [...firstTurn, released], {}, 1800],
    ["is held for a week while its phase may need it", firstTurn, {}, 7 * day],
    ["is held for as long as is set", firstTurn, { expireHeldAfter: Duration.seconds(5) }, 5],
    ["is held forever if that is set", firstTurn, { expireHeldAfter: Duration.zero }, undefined],
    ["expires after as long as is set", standalone, { expireAfter: Duration.seconds(9) }, 9]
  ])("%s", (_, inputs, settings, seconds) => {
    const paused = givenWith(settings)(inputs).when(pause(inputs))
    assert.deepStrictEqual(paused.types, ["SessionPaused"])
    assert.deepStrictEqual(
      paused.timers.map(({ dueAt }) => dueAt),
      seconds === undefined ? [] : [at(60 + seconds)]
    )
    for (const { command } of paused.timers) {
      assert.deepStrictEqual(given([...inputs, pause(inputs)]).when(command).types, ["SessionExpired"])
    }
  })

  it("is not expired by the shorter time while its phase may need it", () => {
    const { useCount } = given([...firstTurn, pause(firstTurn)]).state
    given([...firstTurn, pause(firstTurn)])
      .when({ _tag: "ExpireIdle", useCount })
      .then([])
  })

  it("begins to expire when its phase releases it in its pause", () => {
    const outcome = given([...firstTurn, pause(firstTurn)]).when(released)
    assert.strictEqual(outcome.timers[0]?.dueAt, at(60 + 1800))
    given([...firstTurn, released])
      .when(released)
      .then([])
  })

  it("is needed again by the next turn that is requested in it", () => {
    assert.strictEqual(
      viewOf(given([...firstTurn, released, nextTurn(2), found(2), answer(2, 1, goodReport)]).state)?.heldBy,
      "phase"
    )
  })

  it("is active again when it is continued", () => {
    const outcome = given([...firstTurn, pause(firstTurn), nextTurn(2)]).when(found(2))
    assert.strictEqual(outcome.state.status, "active")
  })

  it("is not paused by a timer that was set before its last use", () => {
    given([...firstTurn, nextTurn(2), found(2), answer(2, 1, "x"), answer(2, 2, goodReport)])
      .when(pause(firstTurn))
      .then([])
    given([...firstTurn, nextTurn(2)])
      .when(pause(firstTurn))
      .then([])
  })
})

describe("the view of a session", () => {
  it("counts its turns and what they used", () => {
    const view = viewOf(given([...firstTurn, nextTurn(2)]).state)
    assert.deepInclude(view, { sessionId, runtimeSessionId: "ses_1", status: "active", turns: 1, turnId: t(2) })
    assert.deepInclude(view, { messages: 6, toolCalls: 2, cost: 1, lastStopReason: "completed" })
  })
})
