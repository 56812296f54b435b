import { assert, describe, it } from "@effect/vitest"
import { isOpenRun } from "../src/views/ended.ts"
import { consoleLine, servingLines } from "../src/views/servingLines.ts"
import { aRun } from "./support/views.ts"

describe("what reprise up prints when it starts", () => {
  it("lists every open run and how to continue it", () => {
    const runs = [
      aRun({ status: "running" }),
      aRun({ status: "paused" }),
      aRun({ status: "completed" }),
      aRun({ status: "failed" })
    ]
    const lines = servingLines({ directory: "/repo", works: true, openRuns: runs.filter(isOpenRun) })
    assert.strictEqual(lines.length, 4)
    assert.match(lines[0] ?? "", /^Serving \/repo: orchestrator, session-manager, reviewer, gate, workspace/)
    assert.match(lines[2] ?? "", /running/)
    assert.match(lines[3] ?? "", /paused; 'reprise resume /)
  })

  it("says that no run is open, or that another process does the work", () => {
    assert.match(servingLines({ directory: "/repo", works: true, openRuns: [] }).join("\n"), /No open run/)
    assert.match(
      servingLines({ directory: "/repo", works: false, openRuns: [] })[0] ?? "",
      /Another Reprise process serves/
    )
  })

  it("does not show the password of a server", () => {
    const [line] = servingLines({
      directory: "/repo",
      works: true,
      openRuns: [],
      broker: "nats://me:secret@example.org:4222"
    })
    assert.include(line, "through nats://example.org:4222")
    assert.notInclude(line, "secret")
  })
})

describe("the line of the web console", () => {
  const link = { port: 7417, address: "http://127.0.0.1:7417", tokenFile: ".reprise/console.token" }

  it("is a link with the token behind '#', which browsers keep for themselves", () =>
    assert.strictEqual(
      consoleLine({ ...link, token: "abc" }),
      "Web console on 127.0.0.1:7417: http://127.0.0.1:7417/#token=abc"
    ))

  it("names the file of the token where the line may be kept", () =>
    assert.strictEqual(
      consoleLine({ ...link, address: "https://reprise.example.org" }),
      "Web console on 127.0.0.1:7417: https://reprise.example.org/ (sign in with the token in .reprise/console.token)"
    ))
})
