import { assert, describe, it } from "@effect/vitest"
import { Host, RunId } from "@reprise/protocol"
import type { SessionInput } from "../src/session/inputs.ts"
import {
  answer,
  at,
  badReport,
  failed,
  firstTurn,
  found,
  given,
  goodReport,
  lived,
  newTurn,
  nextTurn,
  opened,
  sessionId,
  stopped,
  t,
  withReport
} from "./support/story.ts"

describe("a turn in a new session", () => {
  it("journals the intent and asks the host to open a session", () => {
    const outcome = given([]).when(newTurn(1))
    assert.deepStrictEqual(outcome.types, ["TurnRequested"])
    assert.deepStrictEqual(outcome.work, [
      {
        _tag: "RequestWork",
        host: Host.make("h1"),
        work: {
          _tag: "OpenSession",
          turnId: t(1),
          runtime: "opencode",
          directory: "/work/repository",
          title: "author of r1",
          permissions: "ask",
          role: "author",
          uncommitted: {}
        }
      }
    ])
    assert.strictEqual(outcome.state.status, "requested")
  })

  it("journals the runtime's id before the first prompt is sent", () => {
    const outcome = given([newTurn(1)]).when(opened(1))
    assert.deepStrictEqual(outcome.types, ["SessionOpened", "SessionCreated", "TurnStarted", "PromptPrepared"])
    assert.deepStrictEqual(
      outcome.sent.map((one) => (one._tag === "PublishEvent" ? one.event._tag : one._tag)),
      ["SessionCreated", "TurnStarted", "RequestWork"]
    )
    const { work } = outcome.work[0] ?? assert.fail("no work")
    assert.deepInclude(work, { _tag: "RunPrompt", number: 1, kind: "work", runtimeSessionId: "ses_1" })
    assert.deepInclude(work, { text: withReport("You are the author of phase 2.") })
  })

  it.each([
    [{ type: "nonsense" }, 'there is no type "nonsense"'],
    [{ type: "object", properties: { colour: { type: ["string", "nil"] } } }, 'there is no type "nil"'],
    [{ type: "object", properties: { all: { type: "array", items: { type: "text" } } } }, 'there is no type "text"'],
    [{ type: "array" }, "a report is an object"]
  ] as const)("is refused with a report schema that nothing can fit: %j", (report, why) => {
    given([]).when(newTurn(1, { report })).refused(`The JSON schema of the report cannot be used: ${why}`)
  })

  it("is refused with a report schema that cannot be read, before anything is opened", () => {
    given([])
      .when(newTurn(1, { report: { $ref: "https://nowhere/schema" } }))
      .refused(/JSON schema .* cannot be used/)
  })

  it("sends all later work to the host that opened the session", () => {
    const outcome = given([newTurn(1, { host: Host.make("any") })]).when(opened(1))
    assert.strictEqual(outcome.work[0]?.host, "h1")
    assert.strictEqual(outcome.state.details?.host, "h1")
  })

  it("asks for the report after the work, and completes with the usage of both prompts", () => {
    const asked = given(firstTurn.slice(0, 2)).when(answer(1, 1, "I did it."))
    assert.deepStrictEqual(asked.types, ["PromptEnded", "PromptPrepared"])
    assert.include(asked.event("PromptPrepared").text, "JSON")

    const done = given(firstTurn.slice(0, 3))
      .when(answer(1, 2, goodReport), at(10))
      .event("TurnCompleted")
    assert.deepStrictEqual(done.status, { result: "complete", commit: "abc" })
    assert.deepInclude(done, { report: "author-status", cost: 1, duration: 10_000, attempts: 1 })
    assert.deepInclude(done, { lastLines: "I did it.", role: "author", phase: "2", sessionId, turnId: t(1) })
    assert.strictEqual(done.tokens.input, 20)
  })

  it.each([
    ["says at its end that it was the fixer's, also when it fails", { fixer: true }],
    ["says nothing of the kind of an author's turn", {}]
  ] as ReadonlyArray<readonly [string, { readonly fixer?: true }]>)("%s", (_, asked) => {
    const open = [newTurn(1, asked), ...firstTurn.slice(1, 3)]
    const ends = [
      given(open)
        .when(answer(1, 2, goodReport))
        .event("TurnCompleted"),
      given(open)
        .when(failed(1, 2, "gone"))
        .event("TurnFailed")
    ]
    for (const { fixer, role } of ends) assert.deepStrictEqual({ role, fixer }, { role: "author", fixer: asked.fixer })
  })

  it("tells how full the conversation is at its end, also when it fails", () => {
    const context = { tokens: 90_000, limit: 200_000 }
    const asked = [...firstTurn.slice(0, 2), answer(1, 1, "I did it.", { context })]
    assert.deepInclude(
      given(asked)
        .when(failed(1, 2, "gone"))
        .event("TurnFailed"),
      { context }
    )
    assert.deepInclude(
      given(asked)
        .when(answer(1, 2, goodReport))
        .event("TurnCompleted"),
      { context }
    )
  })

  it("uses the ids of a prompt only once", () => {
    const planned = lived([
      ...firstTurn.slice(0, 2),
      stopped(1, 1, "turn-limit"),
      answer(1, 2, badReport),
      answer(1, 3, goodReport),
      nextTurn(2),
      found(2),
      answer(2, 1, "again")
    ]).flatMap((event) => (event._tag === "PromptPrepared" ? [event.identity] : []))
    assert.strictEqual(planned.length, 5)
    assert.strictEqual(new Set(planned.map((ids) => ids.messageId)).size, 5)
    assert.deepStrictEqual(
      planned.map((ids) => ids.messageId),
      planned.map((ids) => ids.messageId).toSorted()
    )
  })

  it("changes nothing when it is requested twice", () => {
    for (const inputs of [[newTurn(1)], firstTurn.slice(0, 3), firstTurn]) given(inputs).when(newTurn(1)).then([])
  })

  it("opens one session only, however often the host reports one", () => {
    given(firstTurn.slice(0, 2)).when(opened(1, "ses_other")).then([])
  })

  it("fails with the session when the host cannot open one", () => {
    const outcome = given([newTurn(1)]).when({
      _tag: "RecordUnreachable",
      turnId: t(1),
      kind: "gone",
      message: "no runtime"
    })
    assert.deepStrictEqual(outcome.types, ["AgentGone", "TurnFailed"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "gone", sessionUsable: false, sessionEnded: true })
    assert.strictEqual(outcome.state.status, "failed")
  })

  it("does not take over a session that exists", () => {
    const outcome = given(firstTurn).when(newTurn(2))
    assert.deepStrictEqual(outcome.types, ["TurnFailed", "CommandRefused"])
    assert.strictEqual(outcome.state.status, given(firstTurn).state.status)
  })
})

const promptOf = (work: object | undefined) => (work !== undefined && "text" in work ? String(work.text) : "")

describe("a turn in an existing session", () => {
  it("looks at the session first", () => {
    const outcome = given(firstTurn).when(nextTurn(2))
    assert.deepStrictEqual(outcome.types, ["TurnRequested"])
    assert.deepInclude(outcome.work[0]?.work, { _tag: "InspectSession", runtimeSessionId: "ses_1" })
  })

  it("gets the turn's own words, not the whole task, and the title that its command gives", () => {
    const next = nextTurn(2, { freshPrompt: "The whole task.", title: "Phase 2: fixes" })
    const outcome = given([...firstTurn, next]).when(found(2))
    assert.strictEqual(outcome.event("PromptPrepared").text, withReport("Fix these findings."))
    assert.strictEqual(outcome.state.details?.title, "Phase 2: fixes")
  })

  it("prompts the session under its own id, and publishes that and why it is reused", () => {
    const outcome = given([...firstTurn, nextTurn(2, { reason: "review-cycle" })]).when(found(2))
    assert.deepStrictEqual(outcome.types, ["SessionFound", "SessionReused", "TurnStarted", "PromptPrepared"])
    assert.deepInclude(outcome.event("SessionReused"), { runtimeSessionId: "ses_1", reason: "review-cycle" })
    assert.deepInclude(outcome.work[0]?.work, { runtimeSessionId: "ses_1", text: withReport("Fix these findings.") })
  })

  it("fails with the session usable when the runtime cannot be reached", () => {
    const gone = { _tag: "RecordUnreachable", turnId: t(2), kind: "gone", message: "away" } as const
    const outcome = given([...firstTurn, nextTurn(2)]).when(gone)
    assert.deepStrictEqual(outcome.types, ["AgentGone", "TurnFailed"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "gone", sessionUsable: true })
  })

  it("is refused in another directory than the session's, without changing the session", () => {
    const outcome = given(firstTurn).when(nextTurn(2, { directory: "/work/elsewhere" }))
    assert.deepStrictEqual(outcome.types, ["TurnFailed", "CommandRefused"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "session-missing", sessionUsable: false })
    assert.strictEqual(outcome.state.status, given(firstTurn).state.status)
  })

  it.each(["missing", "empty"] as const)("fails when the session is %s and a human chose to continue", (how) => {
    const outcome = given([...firstTurn, nextTurn(2)]).when(found(2, how))
    assert.deepStrictEqual(outcome.types, ["TurnFailed"])
    assert.deepInclude(outcome.event("TurnFailed"), { kind: "session-missing", sessionUsable: false })
    assert.strictEqual(outcome.state.status, "failed")
  })

  it("continues in a new session with the whole prompt where that was requested, and publishes the replacement", () => {
    const fresh = nextTurn(2, { onMissing: "fresh", freshPrompt: "The whole task." })
    const lost = given([...firstTurn, fresh]).when(found(2, "missing"))
    assert.deepStrictEqual(lost.types, ["SessionLost"])
    assert.deepInclude(lost.work[0]?.work, { _tag: "OpenSession" })

    const replaced = given([...firstTurn, fresh, found(2, "missing")]).when(opened(2, "ses_2"))
    assert.deepInclude(replaced.event("SessionReplaced"), { old: "ses_1", new: "ses_2", sessionId })
    assert.deepInclude(replaced.work[0]?.work, { runtimeSessionId: "ses_2", text: withReport("The whole task.") })
  })

  it.each([
    ["it is aborted", { _tag: "AbortSession", sessionId, reason: "x" }],
    ["it is expired", { _tag: "ExpireSession", sessionId }],
    ["it is completed", { _tag: "CompleteSession", sessionId }]
  ] as const)("never continues a session that has ended: %s", (why, end) => {
    const failure = given([...firstTurn, end]).when(nextTurn(2))
    assert.deepInclude(failure.event("TurnFailed"), { kind: "session-missing", sessionUsable: false })
    assert.include(failure.event("TurnFailed").message, why)

    const fresh = given([...firstTurn, end]).when(nextTurn(2, { onMissing: "fresh" }))
    assert.deepStrictEqual(fresh.types, ["TurnRequested", "SessionLost"])
    assert.deepStrictEqual(
      fresh.work.map((one) => one.work._tag),
      ["OpenSession"]
    )
  })

  it("goes on on another host when its own is gone: in a new runtime session, which is told the saved conversation", () => {
    const saved: SessionInput = {
      ...{ _tag: "RecordSaved", object: "session/r1-s1/ses_1/1", messages: 6, digest: "d", readAt: at(3) }
    }
    const gone = { _tag: "AbortSession", sessionId, reason: "host h1 is gone" } as const
    const elsewhere = {
      ...{ onMissing: "fresh" as const, host: Host.make("h2"), movedFrom: Host.make("h1"), directory: "/other" },
      freshPrompt: "All."
    } as const
    const told = { ...opened(2, "ses_2"), host: "h2", context: "--- user\nHello" } as SessionInput
    const openTurn = nextTurn(2)
    for (const [before, types] of [
      [[gone], ["TurnRequested", "SessionLost"]],
      [[], ["TurnRequested", "SessionLost"]],
      // The command to abort it has not come yet.
      [[openTurn], ["TurnFailed", "TurnRequested", "SessionLost"]]
    ] as const) {
      const history = [...firstTurn, saved, ...before]
      const move = nextTurn(3, elsewhere)
      const outcome = given(history).when(move)
      assert.deepStrictEqual(outcome.types, [...types])
      assert.deepInclude(outcome.event("SessionLost"), { old: "ses_1", reason: "host h1 is gone" })
      assert.deepStrictEqual(
        outcome.work.map(({ host, work }) => [host, work._tag, "transcript" in work ? work.transcript : undefined]),
        [["h2", "OpenSession", "session/r1-s1/ses_1/1"]]
      )
      const replaced = given([...history, move]).when({ ...told, turnId: t(3) } as SessionInput)
      assert.deepInclude(replaced.event("SessionReplaced"), { old: "ses_1", new: "ses_2", sessionId })
      assert.deepInclude(replaced.state.details ?? {}, { host: "h2", directory: "/other" })
      assert.match(promptOf(replaced.work[0]?.work), /^All\.[\s\S]*--- user\nHello/)
      const late = given([...history, move]).when({ ...gone, onHost: Host.make("h1") })
      assert.deepStrictEqual(late.types, [])
    }
  })

  it("is refused as busy while another turn is open", () => {
    const outcome = given(firstTurn.slice(0, 2)).when(nextTurn(2))
    assert.deepStrictEqual(outcome.types, ["TurnFailed", "CommandRefused"])
    assert.deepInclude(outcome.event("TurnFailed"), { turnId: t(2), kind: "other", sessionUsable: true })
    assert.deepInclude(outcome.event("CommandRefused"), {
      command: "StartTurn",
      turnId: t(2),
      reason: "Session r1-s1 is busy with turn r1-t1: wait for its end."
    })
    assert.strictEqual(outcome.state.turn?.request.turnId, t(1))
  })

  it("stays on the host of a live session, whatever host the command names", () => {
    const outcome = given(firstTurn).when(nextTurn(2, { host: Host.make("h2") }))
    assert.strictEqual(outcome.event("TurnRequested").session.host, Host.make("h1"))
  })

  it("leaves the session's creation time as it was", () => {
    assert.strictEqual(given([...firstTurn, nextTurn(2)]).state.createdAt, at(0))
  })

  it("stays in the session's directory when the command names none", () => {
    const outcome = given(firstTurn).when(nextTurn(2, { directory: "" }))
    assert.strictEqual(outcome.event("TurnRequested").session.directory, "/work/repository")
  })

  it("is refused to another run, and in a relative directory", () => {
    given(firstTurn)
      .when(nextTurn(2, { runId: RunId.make("r2") }))
      .refused("Session r1-s1 belongs to run r1, not to r2.")
    given([])
      .when(newTurn(1, { directory: "../elsewhere" }))
      .refused("The directory '../elsewhere' is not an absolute path.")
  })

  it.each([
    ["fewer messages than before", 2, ["SessionReplaced", "PromptEnded", "PromptPrepared"]],
    ["as many messages as before", 4, ["SessionReplaced", "PromptEnded", "PromptPrepared"]],
    ["more messages than before", 5, ["PromptEnded", "PromptPrepared"]]
  ] as const)("publishes a replacement unless the conversation has grown: %s", (_, messages, types) => {
    const outcome = given([...firstTurn, nextTurn(2), found(2)]).when(answer(2, 1, "hello", { messages }))
    assert.deepStrictEqual(outcome.types, [...types])
  })
})

describe("continue", () => {
  const go = (guidance?: string): SessionInput => ({
    _tag: "ContinueSession",
    turnId: t(2),
    sessionId,
    onMissing: "fail",
    ...(guidance === undefined ? {} : { guidance })
  })

  it("takes the limits that come with it in place of those of the last turn", () => {
    const limits = { maxTokens: 7 }
    const outcome = given([...firstTurn, { ...go(), limits } as SessionInput]).when(found(2))
    assert.deepInclude(outcome.work[0]?.work, { _tag: "RunPrompt", limits })
  })

  it.each([
    ["as the last one where it names no step", {}, true],
    ["not of a step that is not the fixer's", { step: "EXECUTE" }, undefined],
    ["of a step that is", { step: "AUTO_FIX", fixer: true }, true]
  ] as const)("is the fixer's %s", (_, more, fixer) => {
    const mended = [newTurn(1, { fixer: true }), ...firstTurn.slice(1)]
    const outcome = given([...mended, { ...go(), ...more } as SessionInput]).when(found(2))
    assert.strictEqual(outcome.state.details?.fixer, fixer)
  })

  it("prompts the same session to continue", () => {
    const outcome = given([...firstTurn, go()]).when(found(2))
    assert.deepInclude(outcome.work[0]?.work, {
      runtimeSessionId: "ses_1",
      text: withReport("Continue the current session and complete all remaining tasks.")
    })
  })

  it("passes the guidance on verbatim", () => {
    const outcome = given([...firstTurn, go("Use the old API.\n\n- and $& this\n")]).when(found(2))
    assert.deepInclude(outcome.work[0]?.work, {
      text: withReport(
        "Continue the current session and complete all remaining tasks.\n\nThe user has provided the following additional guidance:\nUse the old API.\n\n- and $& this\n"
      )
    })
  })

  it("is refused where there is no session", () => {
    given([])
      .when(go())
      .refused(/no session r1-s1/)
  })
})
