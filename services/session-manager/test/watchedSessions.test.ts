import { assert, describe, it } from "@effect/vitest"
import { optionsOf } from "../src/work/report.ts"
import { type Watched, WatchedSessions } from "../src/work/WatchedSessions.ts"
import { sessionId } from "./support/story.ts"

const watched = (runtimeSessionId: string): Watched => ({
  key: sessionId,
  runtimeSessionId,
  runtime: "opencode",
  inTurn: false,
  othersInTurn: false
})

describe("a session that is watched", () => {
  it("is not found by the runtime session that another one has replaced", () => {
    const sessions = new WatchedSessions()
    sessions.add(watched("ses_1"))
    sessions.add(watched("ses_2"))
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
