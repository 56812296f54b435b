import { assert, describe, it } from "@effect/vitest"
import { Host } from "@reprise/protocol"
import { areFull, awaitsHost, hostsOf, hostsTable } from "../src/views/hostsText.ts"
import { nextStep, runSummary, runsTable } from "../src/views/runText.ts"
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
      ["host", "state", "slots used", "open runs", "with a remote"],
      ["a", "works", "any number", "1", "0"],
      ["b", "does not answer", "", "2", "1"]
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
    assert.include(text({ remote }).replaceAll(/\s+/g, " "), "'reprise hosts forget a' moves it to another")
    assert.notInclude(text({}), "forget")
  })
})

describe("the slots of hosts", () => {
  const full = { host: Host.make("a"), answers: true, slots: { used: 2, all: 2 } }
  const free = { host: Host.make("b"), answers: true, slots: { used: 1, all: 2 } }

  it("are listed with those that runs have", () => {
    const hosts = hostsOf([aRun({ host: "a", hosted: true })], [full, free, { host: Host.make("c"), answers: true }])
    assert.deepStrictEqual(
      cellsOf(hostsTable(hosts)).map(([host, , slots]) => `${host}: ${slots}`),
      ["host: slots used", "a: 2 of 2", "b: 1 of 2", "c: any number"]
    )
  })

  it.each([
    ["each host that takes runs has as many as it may", [full, { ...full, slots: { used: 3, all: 2 } }], true],
    ["one has a free slot", [full, free], false],
    ["one takes any number", [full, { host: Host.make("c"), answers: true }], false],
    ["the one with a free slot is drained", [full, { ...free, drainedAt: "2026-01-01T10:00:00.000Z" }], true],
    ["the one with a free slot does not answer", [full, { host: Host.make("b"), answers: false }], true],
    ["no host takes runs, which is said otherwise", [{ host: Host.make("b"), answers: false }], false]
  ] as const)("are all used or not: %s", (_title, hosts, expected) => {
    assert.strictEqual(areFull(hosts), expected)
  })

  const waiting = aRun({ status: "running", waitsFor: { _tag: "Workspace", command: "PrepareWorkspace" } })

  it("are waited for by a run that no host has taken, and by no other", () => {
    assert.isTrue(awaitsHost(waiting))
    assert.isFalse(awaitsHost({ ...waiting, host: Host.make("a") }))
    assert.isFalse(awaitsHost({ ...waiting, status: "paused" }))
    assert.isFalse(awaitsHost({ ...waiting, waitsFor: { _tag: "Workspace", command: "ReleaseWorkspace" } }))
  })

  it("let a run that waits for one say so", () => {
    const run = { ...waiting, awaitsSlot: true as const }
    assert.strictEqual(cellsOf(runsTable([run], 0))[1]?.[2], "waits for a host")
    const text = runSummary(run, []).replaceAll(/\s+/g, " ")
    assert.include(text, "waits for a free slot")
    assert.notInclude(text, "waits for PrepareWorkspace")
    assert.include(nextStep(run), "it starts when a run ends")
  })
})
