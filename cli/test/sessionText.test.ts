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
