import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { hostsOf, hostsTable } from "../src/views/hostsText.ts"
import { runSummary } from "../src/views/runText.ts"
import { aRun, cellsOf } from "./support/views.ts"

const remote = { url: "https://git.example.org/app.git" }

describe("the hosts of open runs", () => {
  it("are listed by name, with their runs and those that can go on elsewhere", () => {
    const hosts = hostsOf([
      aRun({ runId: "r1", host: "b", hosted: false, remote }),
      aRun({ runId: "r2", host: "a", hosted: true }),
      aRun({ runId: "r3", host: "b", hosted: false }),
      aRun({ runId: "r4" })
    ])
    assert.deepStrictEqual(hosts as unknown, [
      { host: "a", hosted: true, runs: ["r2"], movable: [] },
      { host: "b", hosted: false, runs: ["r1", "r3"], movable: ["r1"] }
    ])
    assert.deepStrictEqual(cellsOf(hostsTable(hosts)), [
      ["host", "state", "open runs", "with a remote"],
      ["a", "works", "1", "0"],
      ["b", "does not answer", "2", "1"]
    ])
  })

  it("work if one of their runs is worked on, and nobody knows where nobody could tell", () => {
    const both = [aRun({ host: "a", hosted: false }), aRun({ runId: "r2", host: "a", hosted: true })]
    assert.isTrue(hostsOf(both)[0]?.hosted)
    assert.strictEqual(cellsOf(hostsTable(hostsOf([aRun({ host: "a" })])))[1]?.[1], "unknown")
  })

  it("are listed with hosts that answer or are drained, and not with names that were used once", () => {
    const known = [
      { host: Host.make("b"), answers: false, drainedAt: "2026-01-01T10:00:00.000Z" },
      { host: Host.make("c"), answers: true },
      { host: Host.make("d"), answers: false },
      { host: Host.make("a"), answers: true, drainedAt: "2026-01-02T10:00:00.000Z" }
    ]
    const hosts = hostsOf([aRun({ runId: "r1", host: "a", hosted: true, remote })], known)
    assert.deepStrictEqual(hosts[0] as unknown, {
      host: "a",
      hosted: true,
      drainedAt: "2026-01-02T10:00:00.000Z",
      runs: ["r1"],
      movable: ["r1"]
    })
    assert.deepStrictEqual(
      cellsOf(hostsTable(hosts)).map(([host, state]) => `${host}: ${state}`),
      ["host: state", "a: works, drained", "b: does not answer, drained", "c: works"]
    )
  })

  it("say of a run with a remote that nobody takes where to look", () => {
    const text = runSummary(aRun({ status: "running", hosted: false, remote }), []).replaceAll(/\s+/g, " ")
    assert.include(text, "no host takes it: 'reprise hosts list'")
  })

  it("can be forgotten, says a run with a remote whose host does not answer", () => {
    const text = (more: object) => runSummary(aRun({ status: "running", host: "a", hosted: false, ...more }), [])
    assert.include(text({ remote }).replaceAll(/\s+/g, " "), "'reprise hosts forget a' has another one go on")
    assert.notInclude(text({}), "forget")
  })
})
