import { assert, describe, it } from "@effect/vitest"
import { drainedText, fateOf, progressLines, runsOn, sessionsOn } from "../src/views/drainText.ts"
import { aRun, aSession } from "./support/views.ts"

const remote = { url: "https://git.example.org/app.git" }
const phase = (id: string, state: string) => ({ id, title: id, state, reviewCycles: 0, qualityAttempts: 0 })
const [first, last] = [
  [phase("1", "running"), phase("2", "pending")],
  [phase("1", "completed"), phase("2", "running")]
]
const onHost = (more: object) => aRun({ host: "a", phase: "1", phases: first, ...more })

const leaving = onHost({ runId: "leaves", remote })
const ending = onHost({ runId: "ends", remote, phase: "2", phases: last })
const asking = onHost({ runId: "asks", remote, status: "waiting", escalationId: "asks-e1" })
const paused = onHost({ runId: "pauses", remote, status: "paused" })
const local = onHost({ runId: "local" })

describe("an open run of a host that is drained", () => {
  it("leaves, ends, waits for somebody or stays, by its remote, its status and its phases", () => {
    const rows = [
      [leaving, "leaves"],
      [onHost({ remote, phases: [] }), "ends"],
      [ending, "ends"],
      [asking, "waits"],
      [paused, "waits"],
      [local, "stays"],
      [onHost({ status: "waiting" }), "stays"]
    ] as const
    for (const [run, fate] of rows) assert.strictEqual(fateOf(run), fate, run.runId)
  })

  it("is named with what happens to it, and what to do", () => {
    const lines = progressLines(new Map(), [leaving, ending, asking, paused, local], "a")
    assert.match(lines.get("leaves") ?? "", /elsewhere once phase 1 is finished and pushed/)
    assert.match(lines.get("ends") ?? "", /last phase, and ends here/)
    assert.match(lines.get("asks") ?? "", /'reprise gate show asks-e1'.*elsewhere/)
    assert.match(lines.get("pauses") ?? "", /'reprise resume pauses'.*elsewhere/)
    assert.match(lines.get("local") ?? "", /only on this host.*loses nothing, and continues when the host is back/)
  })

  it("is told again when it has left, ended, or is on another host", () => {
    const told = new Map(["moved", "waits", "done", "pruned"].map((runId) => [runId, ""]))
    const now = [
      aRun({ runId: "moved", host: "b", remote }),
      aRun({ runId: "waits", remote }),
      aRun({ runId: "done", host: "a", status: "completed", remote })
    ]
    const lines = progressLines(told, now, "a")
    assert.deepStrictEqual(
      [...lines.values()],
      [
        "Run moved has left: it continues on host b.",
        "Run waits has left, and waits for another host.",
        "Run done has ended: completed.",
        "Run pruned has ended: it is pruned."
      ]
    )
    assert.deepStrictEqual(progressLines(lines, now, "a"), lines, "nothing new is nothing to tell")
  })
})

describe("the end of a drain", () => {
  const end = (runs: Parameters<typeof drainedText>[1], sessions: Parameters<typeof drainedText>[2] = []) =>
    drainedText("a", runs, sessions).join(" ")

  it("says that the host can be stopped, and what goes on there when it is back", () => {
    assert.strictEqual(end([]), "Host a is drained, and can be stopped: it has no open run and no session.")
    const session = aSession({ sessionId: "s1", host: "a", status: "paused", prompt: "Do it" })
    assert.match(end([local]), /can be stopped: 1 run of this host alone goes on when it is back/)
    assert.match(end([local], [session]), /Session s1 stays.* 1 run and 1 session of this host alone go on/)
  })

  it("says how many are at work or wait for somebody, and how to go on", () => {
    assert.match(end([leaving, ending, asking]), /2 runs are still at work there: 'reprise hosts drain a' waits/)
    assert.match(end([asking, local]), /1 run waits there for somebody\. Answer.*'reprise hosts forget a'/)
  })

  it("counts standalone sessions of the host that are not over, and its open runs", () => {
    const sessions = [
      aSession({ sessionId: "of-a-run", host: "a", status: "paused" }),
      aSession({ sessionId: "over", host: "a", prompt: "Do it" }),
      aSession({ sessionId: "elsewhere", host: "b", status: "paused", prompt: "Do it" }),
      aSession({ sessionId: "open", host: "a", status: "active", prompt: "Do it" })
    ]
    assert.deepStrictEqual(
      sessionsOn(sessions, "a").map(({ sessionId }) => String(sessionId)),
      ["open"]
    )
    assert.deepStrictEqual(
      runsOn([local, aRun({ host: "b" }), onHost({ status: "completed" }), aRun({})], "a").map(({ runId }) => runId),
      [local.runId]
    )
  })
})
