/** A turn that waits for its model's vendor, as people see it. */
import { assert, describe, it } from "@effect/vitest"
import { nextStep, runSummary, runsTable, withPostponed } from "../src/views/runText.ts"
import { sessionText } from "../src/views/sessionText.ts"
import { aRun, aSession, cellsOf, plainLines } from "./support/views.ts"

const now = Date.parse("2026-01-01T10:10:00.000Z")
const postponed = { until: "2026-01-01T10:22:03.000Z", kind: "rate_limited", message: "slow\ndown" }
const waiting = aSession({ status: "active", turnId: "r1-abc-t1", postponed })
const [run = assert.fail("no run")] = withPostponed([aRun()], [aSession(), waiting])

describe("a run whose turn waits for the model's vendor", () => {
  it("counts down in the table of runs", () => {
    const reasonAt = (ms: number) => cellsOf(runsTable([run], ms))[1]?.[6]
    assert.strictEqual(reasonAt(now), "Rate limited, again in 12:03")
    assert.strictEqual(reasonAt(now + 723_000), "Rate limited, trying again")
  })

  it("says until when, what its vendor said, and how nobody has to wait", () => {
    const lines = plainLines(runSummary(run, [], now))
    assert.includeMembers([...lines], ["Rate limited, again in 12:03 (2026-01-01 10:22 UTC): slow", "      | down"])
    assert.strictEqual(nextStep(run), "next: it retries by itself; 'reprise resume r1-abc' retries now")
    assert.strictEqual(nextStep({ ...run, hosted: false }), "next: 'reprise up' continues it")
  })

  it("has the session in its JSON", () => {
    assert.deepStrictEqual(run.postponed, { sessionId: "r1-abc-s1", ...waiting.postponed })
  })

  it.each([
    ["is paused", aRun({ status: "paused" }), waiting],
    ["is another one", aRun({ runId: "r2-def" }), waiting],
    ["has no such session", aRun(), aSession()]
  ])("is none that %s", (_name, other, session) => {
    assert.deepStrictEqual(withPostponed([other], [session]), [other])
  })
})

describe("a session whose turn waits for the model's vendor", () => {
  it("says until when", () => {
    const lines = plainLines(sessionText(waiting, undefined, now))
    assert.include(lines, "postponed:        Rate limited, again in 12:03 (2026-01-01 10:22 UTC): slow")
  })
})
