import { assert, describe, it } from "@effect/vitest"
import { EscalationId, Host, isStandalone, Key, RunId, SessionId, TurnId } from "@reprise/protocol"
import { sessionActor } from "../src/machine/actor.ts"
import { viewOf } from "../src/machine/view.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  failed,
  given,
  givenOwn,
  key,
  newTurn,
  nextTurn,
  opened,
  own,
  ownTurn,
  sessionId,
  startAlone,
  withReport
} from "./support/story.ts"

const ownRun = RunId.make(key)
const task = "Write hello.txt."
const start = {
  ...startAlone,
  prompt: task,
  directory: "/work/repository",
  limits: { maxTokens: 1000 },
  stuckAfterMs: 5000
}
const turnId = (n: number) => TurnId.make(`${key}-t${n}`)
const fresh = (n: number, prompt = task): SessionInput => ownTurn(newTurn(n, { fresh: true, prompt }))
const working = [start, fresh(1), own(1, opened(1))]
const question = { runId: ownRun, sessionId, escalationId: EscalationId.make(`${key}-e1`) } as const
const raised: SessionInput = {
  _tag: "EscalationRaised",
  ...question,
  origin: "author",
  reason: "Which greeting?",
  options: [],
  evidence: {}
}

describe("a standalone session", () => {
  it("is run by the orchestrator, under its own id", () => {
    const outcome = given([]).when(start)
    assert.deepStrictEqual(outcome.types, ["StandaloneRequested"])
    const { _tag, sessionId: _, ...request } = start
    assert.deepStrictEqual(outcome.sent as unknown, [
      {
        _tag: "SendCommand",
        service: "orchestrator",
        key: ownRun,
        command: { _tag: "StartStandaloneRun", runId: ownRun, ...request }
      }
    ])
    const view = viewOf(outcome.state)
    assert.deepInclude(view, { sessionId, runId: ownRun, prompt: task, status: "requested", role: "author" })
    assert.isTrue(view !== undefined && isStandalone(view))
  })

  it("has nothing to continue before it was opened", () => {
    const failed = givenOwn([start])
      .when(ownTurn(nextTurn(1)))
      .event("TurnFailed")
    assert.deepInclude(failed, { kind: "session-missing", sessionUsable: false })
    assert.include(failed.message, "it was never opened")
  })

  it("is not started twice, and its id is not taken over", () => {
    given(working).when(start).then([])
    given(working)
      .when({ ...start, prompt: "Something else." })
      .refused(/exists already/)
    given([])
      .when({ ...start, prompt: "  " })
      .refused(/prompt is empty/)
    given([])
      .when({ ...start, directory: "work" })
      .refused(/not an absolute path/)
  })

  it("takes turns from its own run alone", () => {
    const stray = { ...fresh(1) }
    given([start])
      .when(stray)
      .refused(/belongs to no run/)
    given(working)
      .when({ _tag: "ContinueSession", turnId: turnId(2), sessionId, onMissing: "fail" })
      .refused(/belongs to no run/)
    assert.deepStrictEqual(givenOwn([start]).when(stray).types, ["TurnRequested"])
  })

  it("keeps the words it was started with, whatever its turns are told", () => {
    const { state } = given([start, fresh(1, "Write hello.txt. Say hi.")])
    assert.strictEqual(viewOf(state)?.prompt, task)
  })

  it.each(["timeout", "session-missing", "gone"] as const)("does not end when its turn fails as %s", (kind) => {
    const outcome = given(working).when(own(1, failed(1, 1, kind)))
    assert.include(outcome.types, "TurnFailed")
    assert.notProperty(outcome.event("TurnFailed"), "sessionEnded")
    assert.notInclude(["aborted", "failed"], outcome.state.status)
  })

  it("tells its run that it has ended when it is aborted in a turn", () => {
    const outcome = given(working).when({ _tag: "AbortSession", sessionId, reason: "stop" })
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "aborted", sessionEnded: true })
  })
})

describe("a turn that starts a session over", () => {
  const lost = [...working, own(1, failed(1, 1, "timeout"))]

  it("gets a new runtime session under the same id, and publishes the replacement", () => {
    const outcome = givenOwn(lost).when(fresh(2, "Write hello.txt. Say hi."))
    assert.deepStrictEqual(outcome.types, ["TurnRequested", "SessionLost"])
    const replaced = given([...lost, fresh(2, "Write hello.txt. Say hi.")]).when(own(2, opened(2, "ses_2")))
    const reason = "a human chose to start over"
    assert.deepInclude(replaced.event("SessionReplaced"), { sessionId, old: "ses_1", new: "ses_2", reason })
    assert.strictEqual(replaced.event("PromptPrepared").text, withReport("Write hello.txt. Say hi."))
  })

  it("is handed nothing of the earlier conversation, though it was saved", () => {
    const saved: SessionInput = { _tag: "RecordArchived", object: `session/${key}/ses_1`, messages: 4 }
    const outcome = givenOwn([...lost, saved]).when(fresh(2))
    assert.deepStrictEqual(
      outcome.work.map(({ work }) => work._tag),
      ["OpenSession"]
    )
    assert.notProperty(outcome.work[0]?.work, "transcript")
  })

  it("creates the session when none was opened before", () => {
    const unopened: SessionInput = { _tag: "RecordUnreachable", turnId: turnId(1), kind: "gone", message: "x" }
    const history = [start, fresh(1), unopened, fresh(2)]
    assert.include(given(history).when(own(2, opened(2))).types, "SessionCreated")
  })

  it("stays on the host of the session, with its files", () => {
    const moved = ownTurn(newTurn(2, { fresh: true, host: Host.make("any") }))
    assert.strictEqual(givenOwn(lost).when(moved).work[0]?.host, "h1")
  })

  it("is refused while a turn is open, and when the session has ended", () => {
    const busy = givenOwn(working).when(fresh(2))
    assert.deepStrictEqual(busy.types, ["TurnFailed", "CommandRefused"])
    assert.strictEqual(busy.event("CommandRefused").code, "busy")
    const ended = givenOwn([...lost, { _tag: "AbortSession", sessionId, reason: "x" }]).when(fresh(2))
    assert.deepInclude(ended.event("TurnFailed"), { sessionEnded: true, sessionUsable: false })
    assert.strictEqual(ended.event("CommandRefused").code, "ended")
    const known = givenOwn([...lost, { _tag: "AbortSession", sessionId, reason: "x" }]).when(ownTurn(nextTurn(2)))
    assert.deepInclude(known.event("TurnFailed"), { sessionEnded: true })
  })
})

describe("the question of a standalone session", () => {
  it("is shown and holds the session for as long as it is open", () => {
    const waiting = [...working, own(1, failed(1, 1, "gone")), raised]
    assert.deepInclude(viewOf(given(waiting).state), { escalationId: question.escalationId, heldBy: "question" })
    const answered: SessionInput = { _tag: "EscalationAnswered", ...question, choice: "fix", by: "ann", via: "cli" }
    assert.notProperty(viewOf(given([...waiting, answered]).state), "escalationId")
    const withdrawn: SessionInput = { _tag: "EscalationWithdrawn", ...question, reason: "superseded" }
    assert.notProperty(viewOf(given([...waiting, withdrawn]).state), "escalationId")
    const other: SessionInput = { ...answered, escalationId: EscalationId.make("e7") }
    given(waiting).when(other).then([])
    given(waiting).when(raised).then([])
  })

  it("is not shown any more when the session has ended", () => {
    const ended = [...working, raised, { _tag: "AbortSession", sessionId, reason: "stop" } as const]
    assert.notProperty(viewOf(given(ended).state), "escalationId")
    given(ended).when(raised).then([])
  })

  it("is not withdrawn by the session-manager after the gate has withdrawn it", () => {
    const outcome = given([...working, raised]).when({
      _tag: "EscalationWithdrawn",
      ...question,
      reason: "superseded"
    })
    assert.deepStrictEqual(outcome.types, ["QuestionClosed"])
    assert.deepStrictEqual(outcome.sent, [])
  })

  it("is the only one that the session-manager listens to", () => {
    const route = sessionActor().subscription?.route ?? assert.fail("it listens to nothing")
    const withdrawn = {
      _tag: "EscalationWithdrawn",
      escalationId: EscalationId.make("e1"),
      reason: "run-ended"
    } as const
    assert.strictEqual(
      route({ ...withdrawn, runId: RunId.make("s1"), sessionId: SessionId.make("s1") }),
      Key.make("s1")
    )
    assert.isUndefined(route({ ...withdrawn, runId: RunId.make("r1"), sessionId: SessionId.make("r1-s1") }))
    assert.isUndefined(route({ ...withdrawn, runId: RunId.make("r1") }))
    const { sessionId: _, ...unnamed } = question
    const shown = { ...raised, ...unnamed, evidence: { sessionId } } as Parameters<typeof route>[0]
    assert.strictEqual(route(shown), key)
  })
})
