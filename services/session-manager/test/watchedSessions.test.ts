import { assert, describe, it } from "@effect/vitest"
import { noTokens, SessionId } from "@reprise/protocol"
import { optionsOf } from "../src/work/report.ts"
import { type FollowedEvent, type Watched, WatchedSessions } from "../src/work/WatchedSessions.ts"
import { runId, sessionId, t } from "./support/story.ts"

const watched = (runtimeSessionId: string): Watched => ({
  key: sessionId,
  runtimeSessionId,
  runtime: "opencode",
  inTurn: false,
  othersInTurn: false
})

const turnEnded: FollowedEvent = {
  _tag: "TurnFailed",
  ...{ runId, sessionId, turnId: t(1), role: "author" },
  ...{ kind: "timeout", message: "It took too long.", sessionUsable: true },
  ...{ tokens: noTokens, cost: 0, calls: 0, duration: 1_000, attempts: 1 }
}

describe("a session that is looked up", () => {
  it("is not watched with a turn whose end was told before the answer came, and is when it is looked up again", () => {
    const sessions = new WatchedSessions()
    const early = sessions.beginLookUp(sessionId)
    sessions.note(turnEnded)
    assert.isFalse(sessions.add({ ...watched("ses_1"), inTurn: true }, early))
    assert.isUndefined(sessions.find(sessionId))
    sessions.endLookUp(early)
    assert.isTrue(sessions.add(watched("ses_1"), sessions.beginLookUp(sessionId)))
    assert.isFalse(sessions.find(sessionId)?.inTurn)
  })

  it("is watched at once when only other sessions had events before the answer came", () => {
    const sessions = new WatchedSessions()
    const lookUp = sessions.beginLookUp(sessionId)
    sessions.note({ ...turnEnded, sessionId: SessionId.make("r1-s2") })
    assert.isTrue(sessions.add(watched("ses_1"), lookUp))
  })
})

describe("a session that no look-up has found", () => {
  it("is looked up when a turn of it ends: whoever created it may have died before it was listed", () => {
    const sessions = new WatchedSessions()
    assert.isTrue(sessions.note(turnEnded))
    sessions.add(watched("ses_1"), sessions.beginLookUp(sessionId))
    assert.isFalse(sessions.note(turnEnded))
  })
})

describe("a session that is watched", () => {
  it("is not found by the runtime session that another one has replaced", () => {
    const sessions = new WatchedSessions()
    const lookUp = sessions.beginLookUp(sessionId)
    sessions.add(watched("ses_1"), lookUp)
    sessions.add(watched("ses_2"), lookUp)
    assert.isUndefined(sessions.get("ses_1"))
    assert.strictEqual(sessions.get("ses_2"), sessions.find(sessionId))
  })
})

describe("a question of an agent", () => {
  it("can be answered in words, also where it offers nothing", () => {
    const asked = { sessionId: "ses_1", promptId: "p1", text: "Which?", options: [], questions: [] } as const
    assert.deepStrictEqual(
      optionsOf({ ...asked, kind: "question" }).map(({ name }) => name),
      ["other"]
    )
    assert.deepStrictEqual(optionsOf({ ...asked, kind: "permission" }), [])
  })
})
