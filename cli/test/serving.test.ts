import { assert, describe, it } from "@effect/vitest"
import { serving } from "../src/views/servingText.ts"
import { aRun } from "./support/views.ts"

describe("what reprise up says that it serves", () => {
  it("names every open run, and how to go on with it", () => {
    const runs = [
      aRun({ status: "running" }),
      aRun({ status: "paused" }),
      aRun({ status: "completed" }),
      aRun({ status: "failed" })
    ]
    const lines = serving({ directory: "/repo", works: true, runs })
    assert.strictEqual(lines.length, 4)
    assert.match(lines[0] ?? "", /^serving \/repo: orchestrator, session-manager, reviewer, gate, workspace/)
    assert.match(lines[2] ?? "", /running/)
    assert.match(lines[3] ?? "", /paused; 'reprise resume /)
  })

  it("says so when there is none, or another process does the work", () => {
    assert.match(serving({ directory: "/repo", works: true, runs: [] }).join("\n"), /no open run/)
    assert.match(serving({ directory: "/repo", works: false, runs: [] })[0] ?? "", /another Reprise does the work/)
  })

  it("does not show the password of a server", () => {
    const [line] = serving({ directory: "/repo", works: true, runs: [], broker: "nats://me:secret@example.org:4222" })
    assert.include(line, "through nats://example.org:4222")
    assert.notInclude(line, "secret")
  })
})
