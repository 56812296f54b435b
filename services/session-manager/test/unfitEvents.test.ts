/** What a session sends when there is nothing, or nobody, to send it to. */

import { assert, describe, it } from "@effect/vitest"
import { EscalationId, SessionId } from "@reprise/protocol"
import { Duration } from "effect"
import type { SessionInput } from "../src/session/inputs.ts"
import type { JournalEvent } from "../src/session/journal.ts"
import { savedOf } from "../src/session/state.ts"
import {
  actor,
  answer,
  at,
  given,
  givenWith,
  goodReport,
  key,
  newTurn,
  nextTurn,
  opened,
  own,
  ownTurn,
  runId,
  sessionId,
  startAlone,
  t
} from "./support/story.ts"

const begun = [newTurn(1), opened(1)]
const done = [...begun, answer(1, 1, goodReport)]
const asked: SessionInput = {
  ...{ _tag: "RecordAgentQuestion", promptId: "p1", kind: "permission", text: "May I?" },
  options: [{ name: "once", label: "Once" }]
}
/** The first turn of a standalone session. */
const freshTurn = ownTurn(newTurn(1, { fresh: true, prompt: "x" }))
const delivery = { id: "m", key, now: at(60) }
const retried: JournalEvent = { _tag: "PromptRetried", turnId: t(1), number: 1, at: at(1) }
const interrupting: JournalEvent = { _tag: "TurnInterrupting", turnId: t(1), reason: "x" }
const again: JournalEvent = { _tag: "AgentQuestionRepeated", promptId: "p1", runtimePromptId: "p2" }
const ofSession = { runId, sessionId, role: "author" } as const

describe("an event that does not fit the session", () => {
  const reactions = (inputs: ReadonlyArray<SessionInput>, event: JournalEvent) =>
    actor.react(given(inputs).state, [event], delivery)

  it.each<readonly [string, ReadonlyArray<SessionInput>, JournalEvent]>([
    ["a prompt without a runtime session", [newTurn(1)], retried],
    ["a prompt without a turn", done, retried],
    ["an interruption without a runtime session", [newTurn(1)], interrupting],
    ["a reply to a question that is closed", done, again],
    ["a question asked again that has no reply", [...begun, asked], again],
    ["the release of a session that is in use", done, { _tag: "SessionReleased", at: at(1) }]
  ])("sends nothing: %s", (_title, inputs, event) => {
    assert.deepStrictEqual(reactions(inputs, event), [])
  })

  it("is only published where there is no session: a refusal, and a turn that failed", () => {
    const nobody = (event: JournalEvent) => actor.react(actor.initial, [event], delivery).map(({ _tag }) => _tag)
    const refused: JournalEvent = { _tag: "CommandRefused", runId, command: "StartTurn", code: "busy", reason: "x" }
    assert.deepStrictEqual(nobody(refused), ["PublishEvent"])
    assert.deepStrictEqual(nobody(retried), [])
    assert.deepStrictEqual(nobody({ _tag: "SessionPaused", runId, sessionId, role: "author" }), [])
  })

  it("stops an agent without the words of a prompt where no prompt is known", () => {
    for (const inputs of [done, [...done, nextTurn(2)]]) {
      const [sent] = reactions(inputs, interrupting)
      assert.containSubset(sent, { work: { _tag: "InterruptSession", turnId: t(1) } })
      assert.notProperty((sent as { readonly work?: object } | undefined)?.work, "text")
    }
  })

  it("sets a timer for a prompt also where the turn is not known that it belongs to", () => {
    const waiting: JournalEvent = {
      ...{ _tag: "TurnWaiting", turnId: t(1), number: 1, trigger: "error.rate_limited", waitMs: 1_000, at: at(1) }
    }
    const command = { _tag: "RetryPrompt", turnId: t(1), number: 1 }
    assert.deepStrictEqual<unknown>(reactions(done, waiting), [{ _tag: "SetTimer", dueAt: at(2), command }])
  })
})

describe("a session without a runtime session", () => {
  const { runtimeSessionId: _, ...lost } = given([...begun, asked]).state
  const [question] = lost.agentQuestions
  const replied = question === undefined ? [] : [{ ...question, reply: "once" }]

  it("asks nothing of the runtime, whatever happens", () => {
    const events: ReadonlyArray<JournalEvent> = [
      ...given(done).when(nextTurn(2)).events,
      { _tag: "AgentIdle", ...ofSession },
      { _tag: "SessionPaused", ...ofSession },
      { _tag: "SessionAborted", ...ofSession, reason: "x" },
      { _tag: "SessionCompleted", ...ofSession },
      retried,
      interrupting,
      again
    ]
    for (const event of events) {
      for (const session of [lost, { ...lost, turn: undefined, agentQuestions: replied }]) {
        const { turn, ...others } = session
        const state = turn === undefined ? others : { ...others, turn }
        const sent = actor.react(state, [event], delivery).filter(({ _tag }) => _tag !== "SetTimer")
        const isPublic = event._tag.startsWith("Session") || event._tag === "AgentIdle"
        assert.deepStrictEqual<unknown>(sent, isPublic ? [{ _tag: "PublishEvent", event }] : [], event._tag)
      }
    }
  })

  it("that is standalone neither rests nor ends when it could not be opened, since its run may start it over", () => {
    const gone = own(1, { _tag: "RecordUnreachable", turnId: t(1), kind: "gone", message: "x" } as const)
    const { sent, types } = given([startAlone, freshTurn]).when(gone)
    assert.deepStrictEqual(types, ["AgentGone", "TurnFailed"])
    assert.deepStrictEqual(
      sent.map(({ _tag }) => _tag),
      ["PublishEvent", "PublishEvent"]
    )
  })
})

describe("a session", () => {
  it("saves nothing and does not rest while its turn goes on, though its agent was idle", () => {
    const idle: JournalEvent = { _tag: "AgentIdle", ...ofSession }
    assert.deepStrictEqual<unknown>(actor.react(given(begun).state, [idle], delivery), [
      { _tag: "PublishEvent", event: idle }
    ])
  })

  it("that something holds is kept for good where the settings say so", () => {
    const paused = givenWith({ expireHeldAfter: Duration.zero })(done).when({ _tag: "PauseIdle", useCount: 4 })
    assert.deepStrictEqual(paused.types, ["SessionPaused"])
    assert.deepStrictEqual(paused.timers, [])
    assert.lengthOf(paused.sent, 2)
  })

  it("that is standalone shows its question, and tells nobody of it again", () => {
    const raised = {
      ...{ _tag: "EscalationRaised", runId: key, escalationId: EscalationId.make("e1"), origin: "author" },
      ...{ reason: "why", options: [], evidence: {} }
    } as unknown as SessionInput
    const { sent, types } = given([startAlone]).when(raised)
    assert.deepStrictEqual([types, sent], [["QuestionRaised"], []])
  })
})

describe("a fork that lost its runtime session", () => {
  const fork = { sessionId: SessionId.make("s0"), turn: 2 }
  const first = [{ ...startAlone, fork }, freshTurn, own(1, opened(1)), own(1, answer(1, 1, goodReport))]
  const { state } = given([...first, ownTurn(nextTurn(2))])
  const { turnId } = ownTurn(nextTurn(2))
  const losing: JournalEvent = { _tag: "SessionLost", turnId, old: "ses_1", reason: "x" }
  const opening = (session: typeof state) => {
    const [sent] = actor.react(session, [losing], delivery)
    return (sent as { readonly work?: object } | undefined)?.work
  }

  it("begins where it began before, or goes on from its own conversation where that was saved", () => {
    assert.deepInclude(opening(state), { _tag: "OpenSession", fork, uncommitted: {} })
    const saved = { object: "session/r1-s1/ses_1", of: "ses_1", at: at(3) }
    assert.deepStrictEqual(savedOf({ ...state, saved }, "ses_1"), saved)
    const own = opening({ ...state, saved })
    assert.deepInclude(own, { _tag: "OpenSession", transcript: saved.object })
    assert.notProperty(own, "fork")
  })

  it("finds what is uncommitted as the user left it when it begins for the first time", () => {
    const [first] = given([{ ...startAlone, fork }]).when(freshTurn, at(60), `run.${key}.m`).work
    assert.deepInclude(first?.work, { _tag: "OpenSession", fork })
    assert.notProperty(first?.work, "uncommitted")
  })
})
