import { assert, describe, it } from "@effect/vitest"
import { sessionTable, sessionText } from "../src/views/sessionText.ts"
import { aSession, cellsOf, plainLines } from "./support/views.ts"

describe("the status of a session", () => {
  it.each([
    [{ status: "paused" }, "paused"],
    [{ status: "paused", hosted: false }, "paused"],
    [{ status: "active", turnId: "r1-abc-t1", hosted: true }, "active, in a turn"],
    [{ status: "active", turnId: "r1-abc-t1", hosted: false }, "active, in a turn that nobody hosts"],
    [{ status: "paused", escalationId: "r1-abc-e1", hosted: false }, "waiting"]
  ])("says whether somebody does its turn: %o", (given, words) => {
    const session = aSession(given)
    assert.strictEqual(cellsOf(sessionTable([session]))[1]?.[2], words)
    assert.include(plainLines(sessionText(session, undefined)), `status:           ${words}`)
  })
})

describe("a fork in the lists of sessions", () => {
  const fork = aSession({ prompt: "Do it.", forkedFrom: { sessionId: "s0", turn: 2 } })

  it("names the session that it is a fork of, and where it begins", () => {
    assert.strictEqual(cellsOf(sessionTable([fork]))[1]?.[1], "fork of s0")
    assert.include(plainLines(sessionText(fork, undefined)), "forked from:      s0, after turn 2")
    assert.notInclude(sessionText(fork, undefined), "conversation:")
  })

  it("says that it was told the conversation instead of getting a copy, and why", () => {
    const told = aSession({ ...fork, forkTold: "The agent 'qwen' cannot fork sessions." })
    const words = "described in its first prompt, not copied: The agent 'qwen' cannot fork sessions."
    assert.include(plainLines(sessionText(told, undefined)), `conversation:     ${words}`)
  })
})

describe("the turns of a session that have ended", () => {
  it("are listed with their commits: a fork can begin after each of them", () => {
    const at = "2026-01-01T00:00:00.000Z"
    const turn = { turn: 1, turnId: "r1-abc-t1", runtimeSessionId: "ses_1", promptId: "msg_1", endedAt: at }
    const pastTurns = [turn, { ...turn, turn: 2, commit: "0123456789abcdef" }]
    const lines = [...plainLines(sessionText(aSession({ pastTurns }), undefined))]
    assert.includeMembers(lines, [
      `turn 1:           ended ${at}`,
      `turn 2:           ended ${at} at commit 0123456789ab`
    ])
  })
})
