import { assert, describe, it } from "@effect/vitest"
import { EscalationId, RunId } from "@reprise/protocol"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import { holdOf } from "../src/session/state.ts"
import {
  answer,
  at,
  firstTurn,
  found,
  given,
  newTurn,
  nextTurn,
  opened,
  ownTurn,
  sessionId,
  startAlone
} from "./support/story.ts"

const ofNoPhase = (inputs: ReadonlyArray<SessionInput>) =>
  inputs.map((input): SessionInput => {
    if (input._tag !== "StartTurn") return input
    const { phase: _, ...rest } = input
    return rest
  })
const idle = ofNoPhase(firstTurn)
const human: SessionInput = { _tag: "ReportActivity", cause: "human", evidence: "text" }
const prompting: SessionInput = {
  _tag: "RecordAgentQuestion",
  promptId: "p1",
  kind: "permission",
  text: "ls",
  options: []
}
const alone: ReadonlyArray<SessionInput> = [startAlone, ownTurn(newTurn(1, { fresh: true })), opened(1)]
const raised: SessionInput = {
  _tag: "EscalationRaised",
  escalationId: EscalationId.make("e1"),
  runId: RunId.make(sessionId),
  sessionId,
  origin: "author",
  reason: "x",
  options: [],
  evidence: {}
}

describe("a session is kept from expiring", () => {
  it.each<readonly [string, ReadonlyArray<SessionInput>, string | undefined]>([
    ["by nothing when it belongs to no phase and nobody uses it", idle, undefined],
    ["by its phase: its questions and checkpoints may need it", firstTurn, "phase"],
    ["by its open turn", ofNoPhase(firstTurn.slice(0, 2)), "turn"],
    ["by a human who works in it", [...idle, human], "agent"],
    ["by its agent's question outside a turn", [...idle, prompting], "question"]
  ])("%s", (_, inputs, hold) => {
    const { state } = given(inputs)
    assert.strictEqual(holdOf(state), hold)
    assert.strictEqual(viewOf(state)?.heldBy, hold)
  })

  it("by its own open escalation, for as long as it is open", () => {
    const own = (input: SessionInput): SessionInput =>
      "turnId" in input ? ({ ...input, turnId: `${sessionId}-t1` } as SessionInput) : input
    const reported = [...alone.map(own), own(answer(1, 1, "x")), own(answer(1, 2, '{"result":"needs_human"}'))]
    assert.strictEqual(holdOf(given(reported).state), "phase", "its run has yet to say what comes next")
    const waiting = [...reported, raised]
    const paused = given(waiting).when({ _tag: "PauseIdle", useCount: given(waiting).state.useCount })
    assert.deepStrictEqual(paused.types, ["SessionPaused"])
    assert.strictEqual(holdOf(paused.state), "question")
    assert.deepInclude(paused.timers[0]?.command, { _tag: "ExpireIdle", held: true })
    assert.deepStrictEqual(
      paused.work.map(({ work }) => work._tag),
      ["SaveNewMessages"]
    )
    const expire: SessionInput = { _tag: "ExpireIdle", useCount: paused.state.useCount }
    given([...waiting, { _tag: "PauseIdle", useCount: given(waiting).state.useCount }])
      .when(expire, at(10_000_000))
      .then([])
  })

  it("by nothing when it has ended", () => {
    const ended = given([...firstTurn, { _tag: "CompleteSession", sessionId }]).state
    assert.isUndefined(viewOf(ended)?.heldBy)
  })
})

describe("the archive of a session", () => {
  const object = "session/r1-s1/ses_1"
  const saved: SessionInput = { _tag: "RecordArchived", object, messages: 4 }

  it.each(["CompleteSession", "ExpireSession"] as const)(
    "is requested by %s, and published once it is stored",
    (end) => {
      const ended = given(firstTurn).when({ _tag: end, sessionId })
      assert.deepInclude(ended.work[0]?.work, { _tag: "SaveTranscript", object, stop: false })
      const archived = given([...firstTurn, { _tag: end, sessionId }]).when(saved)
      assert.deepInclude(archived.event("SessionArchived"), { sessionId, object, messages: 4 })
      assert.deepInclude(viewOf(archived.state), { transcript: object, savedAt: at(60) })
    }
  )

  it("of an aborted session is stored after its agent was stopped", () => {
    const aborted = given(firstTurn).when({ _tag: "AbortSession", sessionId, reason: "x" })
    assert.deepInclude(aborted.work.at(-1)?.work, { _tag: "SaveTranscript", stop: true })
  })

  it("is only a saved transcript while the session lives, and goes to a session that replaces it", () => {
    const outcome = given(firstTurn).when(saved)
    assert.deepStrictEqual(outcome.types, ["TranscriptSaved"])
    const lost: SessionInput = { ...newTurn(2), session: { _tag: "Existing", sessionId }, onMissing: "fresh" }
    const again = given([...firstTurn, saved, { _tag: "ExpireSession", sessionId }]).when(lost)
    assert.deepInclude(again.work[0]?.work, { _tag: "OpenSession", transcript: object })
  })

  it("of a runtime session that was replaced meanwhile changes nothing", () => {
    given(firstTurn)
      .when({ ...saved, object: "session/r1-s1/ses_0" })
      .then([])
  })

  it("is requested of a session that its runtime has lost, once", () => {
    const lost = given([...firstTurn, nextTurn(2, { onMissing: "fail" })]).when(found(2, "missing"))
    assert.strictEqual(lost.state.status, "failed")
    assert.deepStrictEqual(
      lost.work.map(({ work }) => work._tag),
      ["SaveTranscript"]
    )
    const failed = [...firstTurn, nextTurn(2, { onMissing: "fail" }), found(2, "missing")]
    assert.deepInclude(given(failed).when(saved).event("SessionArchived"), { object })
    const again = given([...failed, saved]).when(nextTurn(3, { onMissing: "fail" }))
    assert.deepStrictEqual([again.types[0], again.work], ["TurnFailed", []])
    assert.isTrue(again.state.archived)
  })

  it("is not requested of a session that never opened", () => {
    assert.deepStrictEqual(given([newTurn(1)]).when({ _tag: "AbortSession", sessionId, reason: "x" }).work, [])
  })
})
